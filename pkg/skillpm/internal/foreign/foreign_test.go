package foreign_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/foreign"
)

// show returns an import as lines: the dependencies, and after a minus the skipped entries.
func show(imp *foreign.Import) string {
	var b strings.Builder
	for _, item := range imp.Dependencies {
		d := item.Dependency
		fmt.Fprintf(&b, "%d: %s = %s", item.Line, d.ID, d.Ref)
		if d.Ref.Digest != "" {
			fmt.Fprintf(&b, " @%.7s", d.Ref.Digest)
		}
		if d.Constraint != "" {
			fmt.Fprintf(&b, " %q", d.Constraint)
		}
		if len(d.Skills) > 0 {
			fmt.Fprintf(&b, " %v", d.Skills)
		}
		if item.Alias != "" {
			fmt.Fprintf(&b, " alias %s", item.Alias)
		}
		if item.Dev {
			b.WriteString(" dev")
		}
		fmt.Fprintf(&b, " (%s)\n", strings.Join(item.Names, ", "))
	}
	for _, s := range imp.Skipped {
		fmt.Fprintf(&b, "%d: - %s: %s\n", s.Line, s.What, s.Why)
	}
	return b.String()
}

// parse parses a valid file.
func parse(t *testing.T, name, text string) *foreign.Import {
	t.Helper()
	imp, err := foreign.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return imp
}

func check(t *testing.T, imp *foreign.Import, tool, want string) {
	t.Helper()
	if imp.Tool != tool {
		t.Errorf("tool = %q, want %q", imp.Tool, tool)
	}
	if got, want := show(imp), strings.TrimLeft(want, "\n"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

const (
	sha1 = "1f2e3d4c5b6a79880123456789abcdef01234567"
	sha2 = "89abcdef0123456789abcdef0123456789abcdef"
)

func TestParseNamesTheLine(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, want string }{
		"nothing":          {"skills-lock.json", "", "skills-lock.json:1: expected a JSON object"},
		"list":             {"skills-lock.json", "[]", "skills-lock.json:1: expected a JSON object"},
		"cut off":          {"skills-lock.json", "{\n\"version\": 1,\n\"skills\": {", "skills-lock.json:3: unexpected end of file"},
		"comma":            {"skills-lock.json", "{\n\"version\": 1,\n}", "skills-lock.json:3: invalid character '}'"},
		"tail":             {"skills-lock.json", "{\"version\": 1,\n\"skills\": {}}\n{}", "skills-lock.json:3: unexpected data after the end of the object"},
		"twice":            {"skills-lock.json", "{\"version\": 1,\n\"skills\": {},\n\"skills\": {}}", "skills-lock.json:3: the key skills is duplicated"},
		"not UTF-8":        {"skills-lock.json", "{\"version\": \"\xff\"}", "skills-lock.json is not valid UTF-8"},
		"no version":       {"skills-lock.json", `{"skills": {}}`, "skills-lock.json:1: the key version is missing"},
		"newer":            {"skills-lock.json", "{\n\"version\": 2, \"skills\": {}}", "skills-lock.json:2: version 2 is newer than the newest format version that this skillpm supports, 1"},
		"much newer":       {"skills-lock.json", `{"version": 11, "skills": {}}`, "version 11 is newer"},
		"odd version":      {"skills-lock.json", `{"version": -1, "skills": {}}`, "version -1 is newer"},
		"fraction":         {"skills-lock.json", `{"version": 1.5, "skills": {}}`, "version 1.5 is newer than"},
		"no skills":        {"skills-lock.json", `{"version": 1}`, "the key skills is missing"},
		"skills list":      {"skills-lock.json", `{"version": 1, "skills": []}`, "skills must be a mapping, not a list"},
		"skill text":       {"skills-lock.json", "{\"version\": 1, \"skills\": {\n\"deploy\": \"acme/ops\"}}", "skills-lock.json:2: the skill deploy must be a mapping, not text"},
		"skill null":       {"skills-lock.json", `{"version": 1, "skills": {"deploy": null}}`, "the skill deploy is empty"},
		"no source":        {"skills-lock.json", `{"version": 1, "skills": {"deploy": {}}}`, "the skill deploy does not have a source"},
		"source number":    {"skills-lock.json", "{\"version\": 1, \"skills\": {\"deploy\": {\n\"source\": 7}}}", "skills-lock.json:2: source must be text, not a number"},
		"deep":             {"skills-lock.json", `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}", "nested more than 64 levels deep"},
		"older user lock":  {".skill-lock.json", `{"version": 2, "skills": {}}`, "version 2 is not supported; skillpm supports 3"},
		"newer user lock":  {".skill-lock.json", `{"version": 4, "skills": {}}`, "version 4 is newer"},
		"YAML":             {"apm.yml", "name: [", "apm.yml:1: not YAML: "},
		"YAML later":       {"apm.yml", "name: x\nversion: 1\n\tx: y\n", ": not YAML: found a tab character"},
		"YAML too deep":    {"apm.yml", strings.Repeat("[", 20_000), "apm.yml:1: not YAML: exceeded max depth"},
		"empty YAML":       {"apm.yml", "# nothing\n", "apm.yml is empty"},
		"YAML documents":   {"apm.yml", "name: x\n---\nname: y\n", "apm.yml:2: the file contains more than one YAML document"},
		"YAML twice":       {"apm.yml", "name: x\nname: y\n", "apm.yml:2: the key name is duplicated"},
		"YAML deep":        {"apm.yml", strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested more than 64 levels deep"},
		"YAML key":         {"apm.yml", "[a]: b\n", "apm.yml:1: a key must be text, not a list or a mapping"},
		"flat list":        {"apm.yml", "dependencies:\n  - acme/ops\n", "apm.yml:2: dependencies must be a mapping, not a list"},
		"apm mapping":      {"apm.yml", "dependencies:\n  apm: {acme: ops}\n", "apm.yml:2: dependencies.apm must be a list, not a mapping"},
		"apm alias":        {"apm.yml", "x: &a acme/ops\ndependencies:\n  apm:\n    - *a\n", "apm.yml:4: a dependency must be text or a mapping, not an alias or a tag"},
		"apm tag":          {"apm.yml", "dependencies:\n  apm:\n    - git: !!binary eA==\n", "apm.yml:3: git must be text, not an alias or a tag"},
		"apm nothing":      {"apm.yml", "dependencies:\n  apm:\n    - ref: main\n", "apm.yml:3: a dependency requires one of the keys git, path, id, and marketplace"},
		"apm ref list":     {"apm.yml", "dependencies:\n  apm:\n    - git: acme/ops\n      ref: [a]\n", "apm.yml:4: ref must be text, not a list"},
		"apm lock newer":   {"apm.lock.yaml", "lockfile_version: '3'\ndependencies: []\n", "apm.lock.yaml:1: lockfile_version 3 is newer than the newest format version that this skillpm supports, 2"},
		"apm lock version": {"apm.lock.yaml", "dependencies: []\n", "lockfile_version is missing"},
		"apm lock entry":   {"apm.lock.yaml", "lockfile_version: '1'\ndependencies:\n- acme/ops\n", "apm.lock.yaml:3: a dependency must be a mapping, not text"},
		"apm lock place":   {"apm.lock.yaml", "lockfile_version: '1'\ndependencies:\n- depth: 1\n", "apm.lock.yaml:3: a dependency does not have a repo_url"},
		"no plugins":       {"marketplace.json", `{"name": "acme"}`, "the key plugins is missing"},
		"plugins mapping":  {"marketplace.json", `{"plugins": {}}`, "plugins must be a list, not a mapping"},
		"plugin text":      {"marketplace.json", "{\"plugins\": [\n\"ops\"]}", "marketplace.json:2: a plugin must be an object, not text"},
		"plugin name":      {"marketplace.json", `{"plugins": [{"source": "./x"}]}`, "a plugin does not have a name"},
		"plugin source":    {"marketplace.json", `{"plugins": [{"name": "ops"}]}`, "the plugin ops does not have a source"},
		"source list":      {"marketplace.json", `{"plugins": [{"name": "ops", "source": ["x"]}]}`, "source must be text or an object, not a list"},
		"no repo":          {"marketplace.json", `{"plugins": [{"name": "ops", "source": {"source": "github"}}]}`, "the source of ops does not have a repo"},
		"no url":           {"marketplace.json", `{"plugins": [{"name": "ops", "source": {"source": "url"}}]}`, "the source of ops does not have a url"},
		"no path":          {"marketplace.json", `{"plugins": [{"name": "ops", "source": {"source": "git-subdir", "url": "acme/ops"}}]}`, "the source of ops does not have a path"},
		"no kind":          {"marketplace.json", `{"plugins": [{"name": "ops", "source": {"url": "acme/ops"}}]}`, "the source of ops does not have a type"},
		"strict text":      {"marketplace.json", `{"plugins": [{"name": "ops", "source": "./x", "strict": "no"}]}`, "strict must be true or false, not text"},
		"skills number":    {"marketplace.json", `{"plugins": [{"name": "ops", "source": "./x", "skills": [1]}]}`, "an entry of skills must be text, not a number"},
		"something else":   {"package.json", `{"name": "x", "version": "1.0.0"}`, "package.json is not a file that skillpm can import"},
		"YAML else":        {"values.yaml", "a: b\n", "values.yaml is not a file that skillpm can import"},
		"name with escape": {"\x1b[2J.json", `{"a": 1}`, `"\x1b[2J.json" is not a file`},
	} {
		_, err := foreign.Parse(tt.file, []byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
			continue
		}
		if code := diag.CodeOf(err); code != diag.Invalid {
			t.Errorf("%s: code %s, want %s", name, code, diag.Invalid)
		}
	}
}

func TestParseBounds(t *testing.T) {
	if _, err := foreign.Parse("skills-lock.json", make([]byte, 4<<20+1)); err == nil || !strings.Contains(err.Error(), "larger than 4194304 bytes") {
		t.Errorf("large file: %v", err)
	}
	tables := strings.Builder{} // the parser needs the square of their number
	for i := range 30_000 {
		fmt.Fprintf(&tables, "[a.b%d]\n", i)
	}
	for _, name := range []string{"agents.toml", "agents.lock"} {
		if _, err := foreign.Parse(name, []byte(tables.String())); err == nil || !strings.Contains(err.Error(), "larger than 262144 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := "dependencies:\n  apm:\n" + strings.Repeat("    - {name: a, marketplace: b}\n", 10_001)
	if _, err := foreign.Parse("apm.yml", []byte(many)); err == nil || !strings.Contains(err.Error(), "apm.yml:10003: the file has more than 10000 entries") {
		t.Errorf("many entries: %v", err)
	}
}

// TestParseByContent checks that a file with another name is recognized by its content.
func TestParseByContent(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 1, "skills": {}}`:                foreign.ToolSkills,
		`{"version": 3, "skills": {}}`:                foreign.ToolSkills,
		`{"plugins": []}`:                             foreign.ToolMarketplace,
		"dependencies:\n  apm: []\n":                  foreign.ToolAPM,
		"lockfile_version: '1'\ndependencies: []\n":   foreign.ToolAPM,
		"lockfile_version: '2'\ndependencies: null\n": foreign.ToolAPM,
	} {
		check(t, parse(t, "saved.txt", text), want, "")
	}
}

// TestParseHostilePlaces checks that no text of a file becomes a source that source.Parse rejects, or is printed with a
// password or an escape sequence.
func TestParseHostilePlaces(t *testing.T) {
	for _, tt := range []struct{ url, why string }{
		{"ext::sh -c touch% /tmp/x", "ext:: runs commands"},
		{"git+ext::sh", "unknown scheme"},
		{"fd::17/x", "fd:: is not a source"},
		{"-oProxyCommand=x:y/z", "is neither a pack nor a known flag"},
		{"ssh://-oProxyCommand=x/y/z", "invalid host"},
		{"git@-oProxyCommand:x/y", "invalid host"},
		{"https://git.example/-x/--upload-pack=y.git", "invalid repository path"},
		{"https://git.example/acme/../../x.git", "invalid repository path"},
		{"git://git.example/acme/ops.git", "unknown scheme"},
		{"http://git.example/acme/ops.git", "plain HTTP is not allowed for packs"},
		{"https://acme:hunter2@git.example/acme/ops.git", "must not contain a user name or password"},
		{"https://git.example/acme/ops.git#--x", "invalid repository URL"},
		{"https://git.example/acme//ops.git", "invalid repository URL"},
		{"https://git.example/acme/ops.git?x=y", "must not contain a query"},
		{"https://git.example/acme/\u202eops.git", "invisible character"},
		{"javascript://git.example/x", "unknown scheme"},
		{"oci://registry.example/acme/ops", "unknown scheme"},
		{"local:acme/ops", "invalid repository URL"},
		{"embedded:acme/ops", "invalid repository URL"},
		{"oci-layout:../x", "invalid repository URL"},
	} {
		for name, text := range map[string]string{
			"skills-lock.json": fmt.Sprintf(`{"version":1,"skills":{"a":{"sourceType":"git","source":%q,"sourceUrl":%[1]q}}}`, tt.url),
			"marketplace.json": fmt.Sprintf(`{"plugins":[{"name":"a","source":{"source":"url","url":%q}}]}`, tt.url),
			"apm.yml":          fmt.Sprintf("dependencies:\n  apm:\n    - git: %q\n", tt.url),
			"apm.lock.yaml":    fmt.Sprintf("lockfile_version: '1'\ndependencies:\n- repo_url: %q\n", tt.url),
			"agents.lock":      fmt.Sprintf("version = 1\n[skills.a]\nsource = \"acme/x\"\nresolved_url = %q\n", tt.url),
			"agents.toml":      fmt.Sprintf("version = 1\n[[skills]]\nname = \"a\"\nref = \"v1\"\nsource = %q\n", tt.url),
		} {
			imp, err := foreign.Parse(name, []byte(text))
			if err != nil {
				t.Errorf("%s: %s: %v", name, tt.url, err)
				continue
			}
			if len(imp.Dependencies) != 0 || len(imp.Skipped) != 1 || !strings.Contains(imp.Skipped[0].Why, tt.why) {
				t.Errorf("%s: %s: got\n%swant %q", name, tt.url, show(imp), tt.why)
			}
			if out := show(imp); strings.Contains(out, "hunter2") || strings.Contains(out, "\u202e") {
				t.Errorf("%s: %q is printed as it is", name, out)
			}
		}
	}
}

func TestParseHostileRevisions(t *testing.T) {
	for _, rev := range []string{"--upload-pack=x", "a..b", "a b", "x.lock", "@{1}", "a\u009bb", "a:b"} {
		imp := parse(t, "marketplace.json", fmt.Sprintf(`{"plugins":[{"name":"a\u001b[2J","source":{"source":"github","repo":"acme/ops","ref":%q}}]}`, rev))
		if len(imp.Dependencies) != 0 || len(imp.Skipped) != 1 {
			t.Errorf("%q: got\n%s", rev, show(imp))
		}
		if strings.Contains(show(imp), "\x1b") {
			t.Errorf("%q: an escape sequence is printed", rev)
		}
	}
}

func TestParseHostileDirectories(t *testing.T) {
	for _, dir := range []string{"../../x", "a/../../b", ".git/hooks", "a/.GIT/x", `a\b`, "/etc", "a#b", "a/ b"} {
		imp := parse(t, "apm.yml", fmt.Sprintf("dependencies:\n  apm:\n    - {git: https://git.example/acme/ops.git, path: %q}\n", dir))
		if len(imp.Dependencies) != 0 || len(imp.Skipped) != 1 {
			t.Errorf("%q: got\n%s", dir, show(imp))
		}
	}
	for _, dir := range []string{"../x", "./../x", "/etc", "./a/../../b", `C:\x`} {
		imp := parse(t, ".claude-plugin/marketplace.json", fmt.Sprintf(`{"plugins":[{"name":"a","source":%q}, {"name":"b","source":"./","skills":[%[1]q]}]}`, dir))
		if len(imp.Dependencies) != 0 || len(imp.Skipped) < 2 {
			t.Errorf("%q: got\n%s", dir, show(imp))
		}
	}
}
