package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// fixture is a machine with a home directory, a project in it at src/app, and an administrator's directory.
type fixture struct {
	*testing.T
	dir     string
	options catalog.Options
}

// newFixture creates the files of an archive, below home/, app/ and machine/. A line "link A B" before the files makes
// A a link to B. If a file SKILL.md does not start with a fence, its text is the description of a skill with the
// directory's name, after fields such as "priority=10".
func newFixture(t *testing.T, id, archive string) *fixture {
	t.Helper()
	p, err := profile.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{T: t, dir: dir}
	paths, err := scope.New(scope.Env{Home: w.path("home"), Dir: dir, OS: runtime.GOOS})
	if err != nil {
		t.Fatal(err)
	}
	paths.Enterprise = w.path("machine")
	later := func() time.Time { return time.Now().Add(time.Hour) } // as if all had been written long ago
	w.options = catalog.Options{Profile: p, Paths: paths, Project: w.path("app"), Now: later}
	for _, name := range []string{"home", "app", "machine"} {
		if err := os.MkdirAll(w.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	a := txtar.Parse([]byte(archive))
	for _, f := range a.Files {
		w.write(f.Name, string(f.Data))
	}
	for line := range strings.Lines(string(a.Comment)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "link" {
			w.link(f[1], strings.Replace(f[2], "ABSOLUTE", dir, 1))
		}
	}
	return w
}

func (w *fixture) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "app"); ok {
		name = "home/src/app" + rest
	}
	return filepath.Join(w.dir, filepath.FromSlash(name))
}

// write writes a file, or a skill in short form.
func (w *fixture) write(name, text string) {
	w.Helper()
	if filepath.Base(name) == "SKILL.md" && !strings.HasPrefix(text, "---") && !strings.HasPrefix(text, "raw") {
		text = short(filepath.Base(filepath.Dir(name)), text)
	}
	text = strings.TrimPrefix(text, "raw\n")
	at := w.path(name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func short(name, text string) string {
	front := "---\nname: " + name + "\n"
	words := strings.Fields(text)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		front += strings.Replace(words[0], "=", ": ", 1) + "\n"
		words = words[1:]
	}
	return front + "description: " + strings.Join(words, " ") + "\n---\nThe body.\n"
}

func (w *fixture) link(name, target string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.Symlink(filepath.FromSlash(target), w.path(name)); err != nil {
		w.Skip("no symbolic links:", err)
	}
}

func (w *fixture) open() *catalog.Catalog {
	w.Helper()
	c, err := catalog.Open(w.Context(), w.options)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// inForce returns the available skills as "name=description".
func inForce(c *catalog.Catalog) string {
	var list []string
	for _, s := range c.Skills() {
		list = append(list, s.Name+"="+s.Description)
	}
	return strings.Join(list, " ")
}

// expect checks the available skills.
func (w *fixture) expect(want string) *catalog.Catalog {
	w.Helper()
	c := w.open()
	if got := inForce(c); got != want {
		w.Errorf("in force are\n  %s\nwant\n  %s\nfindings: %v", got, want, messages(c))
	}
	return c
}

func messages(c *catalog.Catalog) (list []string) {
	for _, f := range c.Findings() {
		list = append(list, fmt.Sprintf("%s %s:%d: %s", f.Rule, filepath.Base(filepath.Dir(filepath.FromSlash(f.Path))), f.Line, f.Message))
	}
	return list
}

// finds checks that a finding of a rule has a message that contains a text.
func (w *fixture) finds(c *catalog.Catalog, rule, text string) diag.Finding {
	w.Helper()
	for _, f := range c.Findings() {
		if f.Rule == rule && strings.Contains(f.Message, text) {
			return f
		}
	}
	w.Errorf("no finding %s with %q among %q", rule, text, messages(c))
	return diag.Finding{}
}

// which returns the candidates for a name as "winner / shadowed… / excluded… / skipped…".
func (w *fixture) which(c *catalog.Catalog, name string) string {
	w.Helper()
	claims := c.Which(name)
	rel := func(s *catalog.Skill) string {
		if s == nil {
			return "nobody"
		}
		r, err := filepath.Rel(w.dir, s.Dir)
		if err != nil {
			w.Fatal(err)
		}
		return strings.TrimPrefix(filepath.ToSlash(r), "home/src/")
	}
	out := rel(claims.Winner)
	for _, list := range [][]catalog.Entry{claims.Shadowed, claims.Excluded, claims.Skipped} {
		for _, e := range list {
			out += "\n" + string(e.State) + " " + rel(e.Skill) + ": " + e.Reason
		}
	}
	return out
}

// TestO5Layers checks the four layers, the machine's before the user's own enterprise directory. A skill is replaced as
// a whole, and priority decides only inside one entry of the layers.
func TestO5Layers(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- machine/skills/deploy/SKILL.md --
machine
-- home/.omniforge/enterprise/skills/deploy/SKILL.md --
priority=1000 own-enterprise
-- home/.skillpm/skills/deploy/SKILL.md --
priority=2000 tags=never personal
-- app/.skillpm/skills/deploy/SKILL.md --
priority=3000 project
-- home/.omniforge/enterprise/skills/audit/SKILL.md --
own-enterprise
-- home/.omniforge/skills/audit/SKILL.md --
personal
-- home/.skillpm/skills/review/SKILL.md --
first-personal
-- home/.omniforge/skills/review/SKILL.md --
priority=5 second-personal
-- app/.claude/skills/review/SKILL.md --
priority=9 project
-- app/.claude/skills/lint/SKILL.md --
project
-- home/.skillpm/plugins/acme/tools/lint/SKILL.md --
priority=9 pack
-- home/.skillpm/plugins/acme/tools/format/SKILL.md --
pack
`)
	c := w.expect("audit=own-enterprise deploy=machine format=pack lint=project review=second-personal")
	s, err := c.Lookup("deploy")
	if err != nil || s.Layer != "enterprise" || s.Scope != catalog.ScopeMachine || s.Rank != 0 || len(s.Tags) > 0 {
		t.Errorf("deploy is %+v, %v", s, err)
	}
	want := `machine/skills/deploy
shadowed home/.omniforge/enterprise/skills/deploy: another directory of the enterprise layer has precedence
shadowed home/.skillpm/skills/deploy: the enterprise layer has precedence
shadowed app/.skillpm/skills/deploy: the enterprise layer has precedence`
	if got := w.which(c, "deploy"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := w.which(c, "review"); !strings.Contains(got, "home/.skillpm/skills/review: its priority 0 is lower than 5") {
		t.Error(got)
	}
	if s, err := c.Lookup("lint@acme/tools"); err != nil || s.Description != "pack" {
		t.Errorf("a shadowed skill of a pack by its exact name: %v, %v", s, err)
	}
}

// TestProfileLayers: P4 (user over builtin), K2 (repository over user, missing directories are skipped), S2 (personal
// over project; packs under qualified names).
func TestProfileLayers(t *testing.T) {
	for _, tt := range []struct{ name, profile, files, want string }{
		{"P4", "pegasus", `
-- app/skills/deploy/SKILL.md --
builtin
-- app/skills/other/SKILL.md --
builtin
-- app/data/skills/deploy/SKILL.md --
user
`, "deploy=user other=builtin"},
		{"K2", "kodelet", `
-- home/.kodelet/skills/deploy/SKILL.md --
user
-- app/.kodelet/skills/deploy/SKILL.md --
repository
`, "deploy=repository"},
		{"K2 missing", "kodelet", "", ""},
		{"S2", "claude-code", `
-- home/.claude/skills/deploy/SKILL.md --
personal
-- app/.claude/skills/deploy/SKILL.md --
project
-- app/.skillpm/plugins/acme/ops/deploy/SKILL.md --
pack
-- app/.agents/skills/unread/SKILL.md --
elsewhere
`, "deploy=personal ops:deploy=pack"},
		{"agentskills", "agentskills", `
-- home/.agents/skills/deploy/SKILL.md --
personal
-- app/.agents/skills/deploy/SKILL.md --
project
`, "deploy=project"},
	} {
		t.Run(tt.name, func(t *testing.T) { newFixture(t, tt.profile, tt.files).expect(tt.want) })
	}
}

// TestP1Defaults checks that a name defaults to the directory's, and a description to the first paragraph, if the
// profile specifies that.
func TestP1Defaults(t *testing.T) {
	w := newFixture(t, "pegasus", `
-- app/skills/bare/SKILL.md --
raw
# Title

What it does,
on two lines.

More.
-- app/skills/named/SKILL.md --
---
name: other-name
---

<!-- no -->
Its first paragraph.
`)
	w.expect("bare=What it does, on two lines. other-name=Its first paragraph.")
}

// TestP2T1Fields checks the model, the tools, and the toolsets of skills, and the default agent, also from the index.
func TestP2T1Fields(t *testing.T) {
	w := newFixture(t, "pegasus", `
-- app/skills/a/SKILL.md --
---
model: fast
allowed-tools: read_file, grep_files
toolsets: [python-codegen, typescript-codegen]
---
A.
-- app/skills/b/SKILL.md --
---
allowed-tools: []
agent: explore
---
B.
-- app/skills/c/SKILL.md --
---
allowed-tools: [Bash(git push *), Read]  # as YAML
toolsets: x, y
---
C.
`)
	want := []string{
		`general "fast" ["read_file" "grep_files"] ["python-codegen" "typescript-codegen"]`,
		`explore "" [] []`,
		`general "" ["Bash(git push *)" "Read"] ["x" "y"]`,
	}
	for range 2 {
		for i, s := range w.open().Skills() {
			if got := fmt.Sprintf("%s %q %q %q", s.Agent, s.Model, s.AllowedTools, s.Toolsets); got != want[i] {
				t.Errorf("got %s, want %s", got, want[i])
			}
			if s.AllowedTools == nil {
				t.Errorf("%s does not restrict tools", s.Name)
			}
		}
	}
	w.options.Toolsets = []string{"x", "y"}
	w.expect("b=B. c=C.")
}

// TestK1Invalid checks that an invalid skill is skipped with a diagnostic that has path, line, and rule, and does not
// affect the others.
func TestK1Invalid(t *testing.T) {
	w := newFixture(t, "kodelet", `
-- app/.kodelet/skills/good/SKILL.md --
good
-- app/.kodelet/skills/no-name/SKILL.md --
---
description: it has none
---
-- app/.kodelet/skills/no-description/SKILL.md --
---
name: no-description
---
It has a body.
-- app/.kodelet/skills/no-front/SKILL.md --
raw
Only text.
-- app/.kodelet/skills/unclosed/SKILL.md --
---
name: unclosed
description: it is
-- app/.kodelet/skills/list/SKILL.md --
---
- a
- b
---
-- app/.kodelet/skills/colon/SKILL.md --
---
name: colon
description: Use: this one
---
-- app/.kodelet/skills/broken-limit/SKILL.md --
---
name: broken-limit
description: d
allowed-tools: [Read
---
-- app/.kodelet/skills/no-bool/SKILL.md --
---
name: no-bool
description: d
disable-model-invocation: perhaps
priority: high
---
-- app/.kodelet/skills/Some Name/SKILL.md --
spaced
-- app/.kodelet/skills/at/SKILL.md --
---
name: at@acme/x
description: at
---
-- app/.kodelet/skills/lower/skill.md --
---
name: lower
---
-- app/.kodelet/skills/nothing/README.md --
-- app/.kodelet/skills/file --
-- app/.kodelet/skills/.hidden/SKILL.md --
hidden
-- app/.kodelet/skills/node_modules/SKILL.md --
dependency
`)
	c := w.expect("Some Name=spaced at=at colon=Use: this one good=good no-bool=d")
	for _, tt := range []struct {
		rule, dir, message string
		line               int
		severity           diag.Severity
	}{
		{"CA003", "no-name", "skillpm skips the skill: name is missing", 1, diag.SeverityError},
		{"CA003", "no-description", "skillpm skips the skill: description is missing", 1, diag.SeverityError},
		{"CA003", "no-front", "skillpm skips the skill: name is missing", 1, diag.SeverityError},
		{"CA002", "unclosed", "skillpm skips the skill: the frontmatter is not closed", 1, diag.SeverityError},
		{"CA002", "list", "skillpm skips the skill: the frontmatter is not a mapping of fields", 2, diag.SeverityError},
		{"CA002", "broken-limit", "skillpm skips the skill: allowed-tools is not valid YAML", 4, diag.SeverityError},
		{"CA002", "colon", "a value without quotes contains a colon and a space", 3, diag.SeverityWarning},
		{"CA004", "Some Name", "contains the capital letter S", 1, diag.SeverityWarning},
		{"CA004", "at", "skillpm uses the name of the directory, at", 1, diag.SeverityWarning},
		{"CA005", "no-bool", "disable-model-invocation is neither true nor false", 4, diag.SeverityWarning},
		{"CA005", "no-bool", "priority is not a number", 5, diag.SeverityWarning},
		{"CA001", "lower", "the file name must be exactly SKILL.md", 0, diag.SeverityError},
	} {
		i := slices.IndexFunc(c.Findings(), func(f diag.Finding) bool {
			return f.Rule == tt.rule && strings.HasSuffix(f.Path, "/"+tt.dir+"/SKILL.md") && strings.Contains(f.Message, tt.message)
		})
		if i < 0 {
			t.Errorf("no finding %s about %s with %q among %q", tt.rule, tt.dir, tt.message, messages(c))
		} else if f := c.Findings()[i]; f.Line != tt.line || f.Severity != tt.severity || f.Fix == "" {
			t.Errorf("%s about %s: %+v", tt.rule, tt.dir, f)
		}
	}
	if s, _ := c.Lookup("no-bool"); s == nil || s.ModelInvocable {
		t.Error("a switch that is not understood counts as the narrower")
	}
	var unknown *catalog.UnknownError
	if _, err := c.Lookup("no-description"); !errors.As(err, &unknown) || diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "description is missing") {
		t.Errorf("a skipped skill is asked for: %v", err)
	}
}

// TestLimits checks that an unreadable restriction never loosens a skill: the skill is skipped, from the start.
func TestLimits(t *testing.T) {
	for name, front := range map[string]string{
		"quoted":     "allowed-tools: \"Bash(git:*\"",
		"plain":      "allowed-tools: Read, Bash(git:*",
		"list":       "allowed-tools:\n  - Read\n  - Bash(git:*))",
		"disallowed": "disallowed-tools: [\"Bash(rm:*\"]",
		"merge":      "<<: {allowed-tools: Read}",
		"anchor":     "metadata: &m {allowed-tools: Read}\n<<: *m",
		"inner":      "scope: {<<: {agents: [coder]}}",
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, "omniforge", "")
			w.write("app/.skillpm/skills/a/SKILL.md", "---\nname: a\ndescription: d\n"+front+"\n---\nThe body.\n")
			f := w.finds(w.expect(""), "CA002", "skillpm skips the skill: ")
			if f.Severity != diag.SeverityError || f.Line < 4 || strings.Contains(f.Message, "disallowed") != (name == "disallowed") {
				t.Errorf("got %+v", f)
			}
			if _, err := catalog.ParseFile(w.path("app/.skillpm/skills/a/SKILL.md"), w.options.Profile); diag.CodeOf(err) != diag.Invalid {
				t.Errorf("got %v", err)
			}
		})
	}
	w := newFixture(t, "omniforge", "")
	w.write("app/.skillpm/skills/a/SKILL.md", "---\nname: a\ndescription: d\nallowed-tools:\n  - Bash(git:*)\n  - Read, Edit(docs/**)\nmetadata: {<<: {x: y}}\n---\nThe body.\n")
	w.expect("a=d")
}

// TestK4Switches checks an allowlist, by name and by exact name, and disabling all skills.
func TestK4Switches(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/deploy/SKILL.md --
personal
-- home/.skillpm/skills/review/SKILL.md --
personal
-- home/.skillpm/plugins/acme/ops/deploy/SKILL.md --
pack
`)
	w.expect("deploy=personal review=personal")
	w.options.Allowed = []string{"review"}
	c := w.expect("review=personal")
	if _, err := c.Lookup("deploy"); diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "skills.allowed") {
		t.Errorf("got %v", err)
	}
	w.options.Allowed = []string{"deploy@acme/ops"}
	w.expect("deploy=pack")
	w.options.Off = true
	c = w.expect("")
	if _, err := c.Lookup("deploy"); !c.Off() || diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "disabled") || diag.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
}

// TestS2Moved checks that a variable with an absolute path moves the directory of an agent's user.
func TestS2Moved(t *testing.T) {
	w := newFixture(t, "claude-code", `
-- home/.claude/skills/a/SKILL.md --
usual
-- home/elsewhere/skills/a/SKILL.md --
moved
`)
	to := ""
	w.options.Getenv = func(name string) string {
		if name == "CLAUDE_CONFIG_DIR" {
			return to
		}
		return ""
	}
	w.expect("a=usual")
	to = "elsewhere"
	w.expect("a=usual")
	to = w.path("home/elsewhere")
	w.expect("a=moved")
}

// TestDepth checks that profiles can search several directory levels, but not inside skills, through links, or deeper.
func TestDepth(t *testing.T) {
	w := newFixture(t, "agentskills", `
link app/.agents/skills/loop .
link app/.agents/skills/group/up ../..
-- app/.agents/skills/a/SKILL.md --
1
-- app/.agents/skills/a/references/inner/SKILL.md --
inside a skill
-- app/.agents/skills/group/b/SKILL.md --
2
-- app/.agents/skills/group/x/y/d/SKILL.md --
4
-- app/.agents/skills/group/x/y/z/e/SKILL.md --
5
-- app/.agents/skills/group/node_modules/m/SKILL.md --
dependency
-- app/.agents/skills/other/x/a/SKILL.md --
weaker than the one that is nearer
-- app/.agents/skills/notes.md --
-- home/.skillpm/plugins/acme/ops/deploy/SKILL.md --
pack
`)
	w.options.Cache = w.path("cache")
	const want = "a=1 b=2 d=4 deploy=pack"
	w.expect(want)
	kept := w.indexFiles()
	w.expect(want)
	if s, err := w.open().Lookup("d"); err != nil || s.Dir != w.path("app/.agents/skills/group/x/y/d") {
		t.Errorf("got %+v, %v", s, err)
	}
	flat, err := profile.Lookup("dispatch") // the same directories, one level
	if err != nil {
		t.Fatal(err)
	}
	deep := w.options.Profile
	w.options.Profile = flat
	w.expect("a=1 deploy=pack")
	w.options.Profile = deep
	w.expect(want)
	for name, text := range kept {
		if now := w.indexFiles()[name]; now != text {
			t.Errorf("%s: another depth has another index", name)
		}
	}
	w.write("app/.agents/skills/group/x/SKILL.md", "now a skill")
	w.expect("a=1 b=2 deploy=pack x=now a skill")
	w.write("app/.agents/skills/group/x/SKILL.md", "raw\n---\n: [")
	w.expect("a=1 b=2 deploy=pack") // one that cannot be used is one, too
	if err := os.Remove(w.path("app/.agents/skills/group/x/SKILL.md")); err != nil {
		t.Fatal(err)
	}
	w.expect(want)
}

// TestDepthBound checks that no more directories are read than agents read.
func TestDepthBound(t *testing.T) {
	w := newFixture(t, "agentskills", "")
	for i := range 2100 {
		if err := os.MkdirAll(w.path(fmt.Sprintf("app/.agents/skills/d%d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.write("app/.agents/skills/a/SKILL.md", "found")
	w.finds(w.expect("a=found"), "CA009", "it contains more than 2000 directories")
}

// TestFixes checks that the suggested fixes work.
func TestFixes(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/small/skill.md --
d
-- home/.skillpm/skills/plain/SKILL.md --
raw
# No frontmatter.
-- home/.skillpm/skills/spaced/SKILL.md --
---
name: Foo Bar
description: d
---
-- home/.skillpm/skills/dir/SKILL.md/x --
`)
	for range 2 { // the second from the index
		w.options.Cache = w.path("cache")
		c := w.open()
		for message, fix := range map[string]string{
			"CA001 with uppercase SKILL": "rename the file to SKILL.md",
			"CA003 name is missing":      "start the file with ---, then name: and description:, then --- again",
			`CA004 "Foo Bar" contains`:   "lowercase letters",
			"CA001 not a regular file":   "create SKILL.md as a regular file, or remove",
		} {
			rule, text, _ := strings.Cut(message, " ")
			if f := w.finds(c, rule, text); !strings.Contains(f.Fix, fix) {
				t.Errorf("%s: %q", f.Message, f.Fix)
			}
		}
	}
}

// TestArguments checks that arguments that are not valid names are reported.
func TestArguments(t *testing.T) {
	w := newFixture(t, "omniforge", "")
	w.write("app/.skillpm/skills/a/SKILL.md", "---\nname: a\ndescription: d\narguments:\n  - {name: file, required: true}\n  - format\n---\n")
	if f := w.finds(w.expect("a=d"), "CA005", "skillpm ignores an invalid name in arguments"); f.Line != 5 || f.Severity != diag.SeverityWarning {
		t.Errorf("got %+v", f)
	}
	w.write("app/.skillpm/skills/a/SKILL.md", "---\nname: a\ndescription: d\narguments: [file, format]\n---\n")
	if c := w.expect("a=d"); len(c.Findings()) > 0 {
		t.Errorf("got %q", messages(c))
	}
}

// TestP1DirectoryName checks that a directory's name that replaces a missing one follows the same rules.
func TestP1DirectoryName(t *testing.T) {
	w := newFixture(t, "pegasus", `
-- app/skills/Bad_Name/SKILL.md --
raw
It works.
-- app/skills/good/SKILL.md --
raw
It works, too.
`)
	c := w.expect("Bad_Name=It works. good=It works, too.")
	f := w.finds(c, "CA004", `the name is missing, and the directory's name is invalid: the name "Bad_Name" contains`)
	if len(c.Findings()) != 1 || f.Severity != diag.SeverityWarning {
		t.Errorf("got %+v", c.Findings())
	}
}

// TestP9Unknown checks that the error for a model about an unknown name does not list skills that it may not activate.
// A name with a pack is closest to other names with packs.
func TestP9Unknown(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/secret/SKILL.md --
disable-model-invocation=true d
-- home/.skillpm/skills/open/SKILL.md --
d
-- home/.skillpm/plugins/acme/deploy/deploy/SKILL.md --
d
`)
	c := w.expect("deploy=d open=d secret=d")
	for _, name := range []string{"nothing", "secrets"} {
		_, err := c.Lookup(name)
		if text := fmt.Sprint(err, diag.HintOf(err)); strings.Contains(strings.ReplaceAll(text, `"secrets"`, ""), "secret") || !strings.Contains(text, "deploy, open") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if _, err := c.Lookup("deploy@acme/deply"); diag.HintOf(err) != "did you mean deploy@acme/deploy?" {
		t.Errorf("got %q", diag.HintOf(err))
	}
	if s, err := c.Lookup("secret"); err != nil || s.ModelInvocable {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestK5Unknown checks that the error lists the available skills, and suggests similar names.
func TestK5Unknown(t *testing.T) {
	w := newFixture(t, "kodelet", `
-- app/.kodelet/skills/deploy/SKILL.md --
d
-- app/.kodelet/skills/review/SKILL.md --
r
`)
	_, err := w.open().Lookup("dploy")
	if diag.CodeOf(err) != diag.NotFound || err.Error() != `unknown skill "dploy": available skills are deploy, review` || diag.HintOf(err) != "did you mean deploy?" {
		t.Errorf("got %v, %s", err, diag.HintOf(err))
	}
	if _, err := w.open().Lookup("Deploy"); diag.HintOf(err) != "did you mean deploy?" {
		t.Errorf("another case: %v", err)
	}
}

// TestO6Scope checks unknown agents, tenants, and environments: a skill for specific ones is not served if the current
// one is unknown.
func TestO6Scope(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/a/SKILL.md --
---
name: a
description: stronger
scope: {agents: [researcher, coder], tenants: t1}
---
-- home/.omniforge/skills/everybody/SKILL.md --
e
-- app/.skillpm/skills/a/SKILL.md --
weaker
-- app/.skillpm/skills/p/SKILL.md --
---
name: p
description: production
scope:
  environments:
    - production
---
-- app/.skillpm/skills/bad/SKILL.md --
---
name: bad
description: bad
scope: production
---
`)
	c := w.expect("a=weaker everybody=e")
	want := "app/.skillpm/skills/a\nexcluded home/.skillpm/skills/a: it is only for agent type researcher, coder, but the agent type is not set"
	if got := w.which(c, "a"); got != want {
		t.Errorf("got\n%s", got)
	}
	w.finds(c, "CA002", "scope must be a mapping")
	w.options.Agent, w.options.Tenant, w.options.Environment = "coder", "t1", "production"
	w.expect("a=stronger everybody=e p=production")
	w.options.Tenant, w.options.Environment = "t2", "staging"
	c = w.expect("a=weaker everybody=e")
	if got := w.which(c, "p"); got != "nobody\nexcluded app/.skillpm/skills/p: it is only for environment production, not staging" {
		t.Errorf("got\n%s", got)
	}
}

const lock = `version: 1
packs:
  acme/deploy:
    version: "1.4.0"
    source: local
    resolved: "sha256:RESOLVED"
    integrity: "%s"
    skills: {deploy: "%s"}
  globex/ops:
    version: "2.0.0"
    source: local
    resolved: "sha256:RESOLVED"
    integrity: "%s"
    skills: {deploy: "%s"}
names:
  deploy: {winner: %s, shadowed: {%s: %s-deploy}}
`

// TestO18Conflict checks that the lockfile decides conflicts between packs, with a warning. The other skill is
// available under its alias, and each has an exact name.
func TestO18Conflict(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- app/.skillpm/plugins/acme/deploy/deploy/SKILL.md --
acme
-- app/.skillpm/plugins/globex/ops/deploy/SKILL.md --
globex
-- home/.skillpm/plugins/initech/tps/deploy/SKILL.md --
initech
`)
	c := w.expect("deploy=acme") // no lock: the order of the packs
	w.finds(c, "CA007", "the lockfile is missing: skillpm resolves name conflicts")
	w.finds(c, "CA006", "acme/deploy and globex/ops both contain a skill \"deploy\"")

	w.write("app/skillpm.lock", lockOf(t, "globex/ops", "acme/deploy", "acme"))
	c = w.expect("acme-deploy=acme deploy=globex")
	f := w.finds(c, "CA006", "globex/ops and acme/deploy both contain a skill \"deploy\": the name refers to the skill of globex/ops; the skill of acme/deploy is available as acme-deploy or deploy@acme/deploy")
	if f.Severity != diag.SeverityWarning {
		t.Errorf("got %+v", f)
	}
	for name, want := range map[string]string{
		"deploy@acme/deploy": "acme", "deploy@globex/ops": "globex", "deploy@initech/tps": "initech", "acme-deploy": "acme", "acme-deploy@acme/deploy": "acme",
	} {
		s, err := c.Lookup(name)
		if err != nil || s.Description != want {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if s, _ := c.Lookup("deploy@acme/deploy"); s == nil || s.Version != "1.4.0" || s.Exact() != "deploy@acme/deploy" {
		t.Errorf("got %+v", s)
	}
	want := `app/.skillpm/plugins/globex/ops/deploy
shadowed home/.skillpm/plugins/initech/tps/deploy: the project's skills have precedence
available app/.skillpm/plugins/acme/deploy/deploy: available as acme-deploy`
	if got := w.which(c, "deploy"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := c.Lookup("deploy@nobody/here"); diag.CodeOf(err) != diag.NotFound || diag.HintOf(err) != "did you mean deploy?" {
		t.Errorf("got %v, %s", err, diag.HintOf(err))
	}
	w.write("app/skillpm.lock", "version: 1\n<<<<<<< HEAD\n")
	w.finds(w.expect("deploy=acme"), "CA007", "skillpm resolves name conflicts by the order")

	w.write("outside.lock", lockOf(t, "globex/ops", "acme/deploy", "acme"))
	if err := os.Remove(w.path("app/skillpm.lock")); err != nil {
		t.Fatal(err)
	}
	w.link("app/skillpm.lock", w.path("outside.lock"))
	w.finds(w.expect("deploy=acme"), "CA007", "cannot read the lockfile: a link leads out of the directory")
}

// TestLockedNotInstalled checks that a skill of a locked but uninstalled pack is unavailable, that no other version
// replaces it, and that the error shows the command that installs it.
func TestLockedNotInstalled(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- app/.skillpm/plugins/acme/deploy/deploy/SKILL.md --
acme
-- app/.skillpm/plugins/globex/ops/deploy/SKILL.md --
globex
`)
	w.write("app/skillpm.lock", lockOf(t, "globex/ops", "acme/deploy", "acme"))
	w.options.Cache = w.path("cache")
	w.expect("acme-deploy=acme deploy=globex")
	unavailable := func(c *catalog.Catalog, name, pack string) {
		t.Helper()
		_, err := c.Lookup(name)
		if diag.CodeOf(err) != diag.NotFound || !strings.Contains(fmt.Sprint(err), pack+" is locked but not installed") || !strings.Contains(diag.HintOf(err), "skillpm install") {
			t.Errorf("%s: got %v (%s)", name, err, diag.HintOf(err))
		}
	}
	if err := os.RemoveAll(w.path("app/.skillpm/plugins/globex")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second from the index
		c := w.expect("acme-deploy=acme")
		w.finds(c, "CA007", "locked but not completely installed: globex/ops 2.0.0")
		unavailable(c, "deploy", "globex/ops 2.0.0")
		unavailable(c, "deploy@globex/ops", "globex/ops 2.0.0")
		if claims := c.Which("deploy"); claims.Winner != nil {
			t.Errorf("which: %+v", claims.Winner)
		}
		if got := c.Absent(); !slices.Equal(got, []string{"globex/ops"}) {
			t.Errorf("absent are %q", got)
		}
	}
	if err := os.RemoveAll(w.path("app/.skillpm")); err != nil { // as in a fresh checkout
		t.Fatal(err)
	}
	for range 2 {
		c := w.expect("")
		w.finds(c, "CA007", "locked but not completely installed: acme/deploy 1.4.0, globex/ops 2.0.0")
		unavailable(c, "deploy", "globex/ops 2.0.0")
		unavailable(c, "acme-deploy", "acme/deploy 1.4.0")
	}
	w.write("app/.skillpm/plugins/acme/deploy/deploy/SKILL.md", "acme")
	w.write("app/.skillpm/plugins/globex/ops/deploy/SKILL.md", "globex")
	if c := w.expect("acme-deploy=acme deploy=globex"); len(c.Absent()) > 0 {
		t.Errorf("absent are %q", c.Absent())
	}
}

// TestQualifiedBareName checks that if packs' skills are named after their packs, an ambiguous bare name matches none
// of them, and that the alias in the lockfile still matches its skill.
func TestQualifiedBareName(t *testing.T) {
	w := newFixture(t, "claude-code", `
-- app/.skillpm/plugins/acme/deploy/deploy/SKILL.md --
acme
-- app/.skillpm/plugins/globex/ops/deploy/SKILL.md --
globex
-- app/.skillpm/plugins/globex/ops/review/SKILL.md --
review
`)
	w.write("app/skillpm.lock", lockOf(t, "globex/ops", "acme/deploy", "acme"))
	c := w.expect("deploy:deploy=acme ops:deploy=globex ops:review=review")
	if _, err := c.Lookup("deploy"); diag.CodeOf(err) != diag.NotFound || !strings.Contains(fmt.Sprint(err), "several packs contain a skill with this name: deploy:deploy, ops:deploy") {
		t.Errorf("got %v", err)
	}
	if claims := c.Which("deploy"); claims.Winner != nil || len(claims.Shadowed) != 2 {
		t.Errorf("which: %+v", claims)
	}
	for name, want := range map[string]string{"review": "review", "acme-deploy": "acme", "deploy@globex/ops": "globex", "ops:deploy": "globex"} {
		if s, err := c.Lookup(name); err != nil || s.Description != want || c.Which(name).Winner != s {
			t.Errorf("%s: got %+v, %v", name, s, err)
		}
	}
}

func lockOf(t *testing.T, winner, loser, owner string) string {
	t.Helper()
	text := strings.ReplaceAll(lock, "RESOLVED", strings.Repeat("b", 64))
	for range 2 {
		tree := "t1:sha256:" + strings.Repeat("a", 64)
		integrity := integrity(t, map[string]string{"deploy": tree})
		text = strings.Replace(strings.Replace(text, `"%s"`, `"`+integrity+`"`, 1), `"%s"`, `"`+tree+`"`, 1)
	}
	return fmt.Sprintf(text, winner, loser, owner)
}

// TestEnterprisePlugins checks that packs beside the administrator's skills, with their own lockfile, have the same
// precedence.
func TestEnterprisePlugins(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- machine/plugins/acme/deploy/deploy/SKILL.md --
acme
-- machine/plugins/globex/ops/deploy/SKILL.md --
globex
-- machine/skills/review/SKILL.md --
hand
-- machine/plugins/acme/deploy/review/SKILL.md --
priority=9 pack
-- app/.skillpm/skills/deploy/SKILL.md --
project
`)
	w.write("machine/skillpm.lock", lockOf(t, "globex/ops", "acme/deploy", "acme"))
	c := w.expect("acme-deploy=acme deploy=globex review=hand")
	if s, err := c.Lookup("deploy"); err != nil || s.Layer != "enterprise" || s.Pack != "globex/ops" || s.Version != "2.0.0" {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestLinks checks that a link in an agent's directory counts once, and that installed packs count at their own
// location.
func TestLinks(t *testing.T) {
	w := newFixture(t, "omniforge", `
link app/.claude/skills/deploy ../../.skillpm/plugins/acme/ops/deploy
link app/.agents/skills/acme-other ../../.skillpm/links/acme-other
link app/.claude/skills/shared ../../.agents/skills/shared
link app/.claude/skills/mine ../../../elsewhere/mine
link app/.claude/skills/again ../../../elsewhere/mine
link app/.claude/skills/nowhere ../gone
link app/.claude/skills/loop loop
link app/.skillpm/plugins/acme/dev/worked ../../../../../elsewhere/worked
link app/.claude/skills/worked ../../.skillpm/plugins/acme/dev/worked
link app/.agents/skills/worked ABSOLUTE/home/src/app/.skillpm/plugins/acme/dev/worked
link app/.claude/skills/invalid ../../.agents/skills/invalid
link app/.claude/skills/leak/SKILL.md ../../../../secret.txt
link app/.claude/skills/inner/SKILL.md real.md
-- home/src/secret.txt --
raw
Do not tell.
-- app/.claude/skills/inner/real.md --
---
name: inner
description: inside
---
-- app/.skillpm/plugins/acme/ops/deploy/SKILL.md --
pack
-- app/.skillpm/plugins/acme/ops/other/SKILL.md --
other
-- app/.skillpm/links/acme-other/SKILL.md --
other
-- app/.agents/skills/shared/SKILL.md --
shared
-- app/.agents/skills/invalid/SKILL.md --
raw
It has no name.
-- home/src/elsewhere/mine/SKILL.md --
mine
-- home/src/elsewhere/worked/SKILL.md --
worked
`)
	w.options.Cache = w.path("cache")
	for range 2 { // the second from the index
		c := w.expect("deploy=pack inner=inside mine=mine other=other shared=shared worked=worked")
		if s, _ := c.Lookup("worked"); s == nil || s.Pack != "acme/dev" || s.Layer != "plugin" {
			t.Errorf("worked is %+v", s)
		}
		if s, _ := c.Lookup("deploy"); s == nil || s.Pack != "acme/ops" || s.Layer != "plugin" {
			t.Errorf("deploy is %+v", s)
		}
		if len(c.All()) != 8 || len(c.Findings()) != 3 { // leak, invalid once, and no lock
			t.Errorf("%d entries: %q", len(c.All()), messages(c))
		}
		f := w.finds(c, "CA001", "leads out of the skill's directory")
		if strings.Contains(fmt.Sprint(c.Findings()), "Do not tell") || f.Severity != diag.SeverityError {
			t.Errorf("got %+v", c.Findings())
		}
	}
	if err := os.RemoveAll(w.path("app/.skillpm/plugins")); err != nil {
		t.Fatal(err)
	}
	w.expect("inner=inside mine=mine shared=shared")
}

// TestCopies checks that an agent's copy of an installed skill belongs to the pack, also under an alias. A copy with
// any different byte is a local skill, and the pack does not get its name.
func TestCopies(t *testing.T) {
	const skill = "raw\n---\nname: deploy\ndescription: d\nallowed-tools: [Bash(git:*)]\n---\nAsk before you delete.\n"
	for _, test := range []struct {
		name string
		hand map[string]string
		pack bool // it is the pack's
	}{
		{"equal", map[string]string{"SKILL.md": skill, "scripts/a.sh": "echo a"}, true},
		{"other body", map[string]string{"SKILL.md": strings.Replace(skill, "Ask before you delete.", "Delete, do not ask me.", 1), "scripts/a.sh": "echo a"}, false},
		{"other tools", map[string]string{"SKILL.md": strings.Replace(skill, "Bash(git:*)", "Bash(rm :*)", 1), "scripts/a.sh": "echo a"}, false},
		{"other script", map[string]string{"SKILL.md": skill, "scripts/a.sh": "echo b"}, false},
		{"longer script", map[string]string{"SKILL.md": skill, "scripts/a.sh": "echo aa"}, false},
		{"no script", map[string]string{"SKILL.md": skill}, false},
		{"another file", map[string]string{"SKILL.md": skill, "scripts/a.sh": "echo a", "scripts/b.sh": ""}, false},
		{"a directory for a file", map[string]string{"SKILL.md": skill, "scripts/a.sh/b": "echo a"}, false},
	} {
		for _, base := range []string{"deploy", "acme-deploy"} {
			t.Run(test.name+"/"+base, func(t *testing.T) {
				w := newFixture(t, "omniforge", "")
				w.write("app/.skillpm/plugins/acme/ops/deploy/SKILL.md", skill)
				w.write("app/.skillpm/plugins/acme/ops/deploy/scripts/a.sh", "echo a")
				if base != "deploy" {
					w.write("app/skillpm.lock", lockOf(t, "zeta/kit", "acme/ops", "acme"))
					w.write("app/.skillpm/plugins/zeta/kit/deploy/SKILL.md", "another")
				}
				for name, text := range test.hand {
					w.write("app/.claude/skills/"+base+"/"+name, strings.Replace(text, "name: deploy", "name: "+base, 1))
				}
				s, err := w.open().Lookup(base)
				if err != nil || (s.Pack == "acme/ops") != test.pack || (s.Dir == w.path("app/.claude/skills/"+base)) == test.pack {
					t.Errorf("got %+v, %v", s, err)
				}
			})
		}
	}
}

// TestCopiesInIndex checks that the index remembers copies until a file of the copy or of the original changes.
func TestCopiesInIndex(t *testing.T) {
	const hand, pack = "app/.claude/skills/deploy/", "app/.skillpm/plugins/acme/ops/deploy/"
	w := newFixture(t, "omniforge", "")
	w.options.Cache = w.path("cache")
	for _, dir := range []string{hand, pack} {
		w.write(dir+"SKILL.md", "d")
		w.write(dir+"scripts/lib/a.sh", "echo a")
	}
	expect := func(what string, isPack bool) {
		t.Helper()
		for range 2 { // the second from the index
			if s, err := w.open().Lookup("deploy"); err != nil || (s.Pack != "") != isPack {
				t.Errorf("%s: got %+v, %v", what, s, err)
			}
		}
	}
	expect("at first", true)
	kept := w.indexFiles()
	expect("nothing new", true)
	if now := w.indexFiles(); fmt.Sprint(now) != fmt.Sprint(kept) {
		t.Error("the index was written anew")
	}
	info, err := os.Stat(w.path(hand + "scripts/lib/a.sh"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(hand+"scripts/lib/a.sh", "echo b")
	if runtime.GOOS != "windows" { // its times of changes are not looked at
		if err := os.Chtimes(w.path(hand+"scripts/lib/a.sh"), info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	expect("a script of the same size and time", false)
	w.write(hand+"scripts/lib/a.sh", "echo a")
	expect("as it was", true)
	w.write(hand+"scripts/lib/b.sh", "echo b")
	expect("a file more", false)
	if err := os.Remove(w.path(hand + "scripts/lib/b.sh")); err != nil {
		t.Fatal(err)
	}
	expect("as it was again", true)
	if err := os.Rename(w.path(pack), w.path("old")); err != nil {
		t.Fatal(err)
	}
	w.write(pack+"SKILL.md", "d")
	w.write(pack+"scripts/lib/a.sh", "echo c")
	expect("another version of the pack", false)
}

// TestTrust checks that if trust is required, a project's skills are left out, with a warning that names the command.
func TestTrust(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/mine/SKILL.md --
mine
-- app/.claude/skills/theirs/SKILL.md --
theirs
-- app/.skillpm/plugins/acme/ops/deploy/SKILL.md --
pack
`)
	w.expect("deploy=pack mine=mine theirs=theirs")
	w.options.RequireTrust = true
	c := w.expect("mine=mine")
	if f := w.finds(c, "CA010", "skipped 2 skills: the project is not trusted"); !strings.Contains(f.Fix, "skillpm trust") {
		t.Errorf("got %+v", f)
	}
	if got := w.which(c, "theirs"); !strings.Contains(got, "excluded app/.claude/skills/theirs: the project is not trusted") {
		t.Error(got)
	}
	if _, err := c.Lookup("theirs"); diag.CodeOf(err) != diag.Denied || !strings.Contains(diag.HintOf(err), "skillpm trust") {
		t.Errorf("got %v, %s", err, diag.HintOf(err))
	}
	w.options.Trusted = func(dir string) bool { return dir == w.path("app") }
	w.expect("deploy=pack mine=mine theirs=theirs")

	w.options.RequireTrust, w.options.Trusted = false, nil
	p := *w.options.Profile
	p.TrustedProjects = true
	w.options.Profile = &p
	w.expect("mine=mine")
	folders := catalog.TrustedFolders(w.options.Paths)
	if _, err := folders.Add(w.path("app"), time.Now()); err != nil {
		t.Fatal(err)
	}
	w.expect("deploy=pack mine=mine theirs=theirs")
}

// TestDeny checks that a skill that a policy refuses is excluded with its reason.
func TestDeny(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/deploy/SKILL.md --
personal
-- app/.skillpm/skills/deploy/SKILL.md --
project
`)
	w.options.Deny = func(s *catalog.Skill) error {
		if s.Scope == catalog.ScopeUser {
			return errors.New("the policy forbids it")
		}
		return nil
	}
	c := w.expect("deploy=project")
	if got := w.which(c, "deploy"); !strings.Contains(got, "excluded home/.skillpm/skills/deploy: the policy forbids it") {
		t.Error(got)
	}
	w.options.Deny = func(*catalog.Skill) error { return errors.New("the policy forbids it") }
	if _, err := w.expect("").Lookup("deploy"); diag.CodeOf(err) != diag.Denied {
		t.Errorf("got %v", err)
	}
}

// TestO20Recommended checks the warning above a number of available skills.
func TestO20Recommended(t *testing.T) {
	w := newFixture(t, "omniforge", "")
	for i := range 4 {
		w.write(fmt.Sprintf("home/.skillpm/skills/s%d/SKILL.md", i), "d")
	}
	w.options.Recommended = 3
	w.finds(w.open(), "CA008", "4 skills are available, more than the recommended 3")
	for _, n := range []int{0, 4, -1} {
		w.options.Recommended = n
		if c := w.open(); len(c.Findings()) > 0 {
			t.Errorf("recommended %d: %q", n, messages(c))
		}
	}
}

// TestO20Tags checks that tags are categories, as a list or with commas.
func TestO20Tags(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/a/SKILL.md --
---
name: a
description: a
tags: [ops, "k8s"]
---
-- home/.skillpm/skills/b/SKILL.md --
---
name: b
description: b
tags: ops, web
---
`)
	if got := strings.Join(w.open().Tags(), " "); got != "k8s ops web" {
		t.Errorf("got %s", got)
	}
}

// TestO2Stage1 checks that the catalog keeps one line of text for each field, and nothing of the body. The text is
// bounded and has no control characters.
func TestO2Stage1(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/a/SKILL.md --
---
name: a
description: |
  First line.

  - injected: entry
when_to_use: >
  Folded
  text.
user-invocable: false
context: fork
agent: coder
argument-hint: "[file]"
---
SECRET-BODY
`)
	w.write("home/.skillpm/skills/b/SKILL.md", "---\nname: b\ndescription: \"x\u202e\U000e0041\\u001b[31m"+strings.Repeat("y", 9000)+"\"\n---\n")
	w.options.Cache = w.path("cache")
	for range 2 {
		c := w.open()
		s, err := c.Lookup("a")
		if err != nil || s.Description != "First line. - injected: entry" || s.WhenToUse != "Folded text." || s.UserInvocable || !s.ModelInvocable || !s.Fork ||
			s.Agent != "coder" || s.ArgumentHint != "[file]" {
			t.Errorf("got %+v, %v", s, err)
		}
		b, err := c.Lookup("b")
		if err != nil || len(b.Description) > 4<<10 || !strings.HasPrefix(b.Description, "x[31my") || !strings.HasSuffix(b.Description, "…") {
			t.Errorf("got %.40q, %v", b.Description, err)
		}
		if got := c.UserInvocable(); len(got) != 1 || got[0] != b {
			t.Errorf("user-invocable are %v", got)
		}
	}
	files, err := filepath.Glob(filepath.Join(w.options.Cache, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err != nil || strings.Contains(string(data), "SECRET-BODY") {
			t.Errorf("%s holds a body, or %v", f, err)
		}
	}
}

// TestProject checks which project a directory belongs to.
func TestProject(t *testing.T) {
	w := newFixture(t, "kodelet", `
-- home/src/app/.git --
-- home/src/app/deep/er/x --
-- home/src/kode/.kodelet/skills/a/SKILL.md --
a
-- home/src/kode/sub/x --
-- home/src/nested/skillpm.yaml --
-- home/src/nested/inner/.skillpm/x --
-- home/src/plain/dir/x --
-- home/.skillpm/skills/a/SKILL.md --
a
-- home/.git --
-- outside/x/y --
-- open/.git --
-- open/sub/x --
`)
	if err := os.Chmod(w.path("open"), 0o777); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"app/deep/er":           "app",
		"home/src/kode/sub":     "home/src/kode",
		"home/src/nested":       "home/src/nested",
		"home/src/nested/inner": "home/src/nested/inner",
		"home/src/plain/dir":    "home/src/plain/dir",
		"home":                  "",
		"home/.skillpm/skills":  "",
		"outside/x":             "outside/x",
		"open":                  "open",
		".":                     "",         // above the home directory
		"open/sub":              "open/sub", // anybody could have put something there
	} {
		if want != "" {
			want = w.path(want)
		}
		if got := catalog.Project(w.options.Paths, w.path(dir), w.options.Profile); got != want && !(dir == "open/sub" && runtime.GOOS == "windows") {
			t.Errorf("the project of %s is %q, want %q", dir, got, want)
		}
	}
}

// TestOS checks that the directories of a profile depend on the system.
func TestOS(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- app/a/one/SKILL.md --
one
-- app/b/two/SKILL.md --
two
`)
	p := *w.options.Profile
	p.Layers = []profile.Layer{{Name: "project", Dirs: []string{"./a"}, OS: map[string][]string{"windows": {"./b"}}}}
	w.options.Profile = &p
	w.options.OS = "linux"
	w.expect("one=one")
	w.options.OS = "windows"
	w.expect("two=two")
}

func integrity(t *testing.T, trees map[string]string) string {
	t.Helper()
	return bundle.Integrity(trees)
}
