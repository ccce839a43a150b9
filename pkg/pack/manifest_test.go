package pack_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

const full = `# a pack of two skills
name: acme/deploy
version: "1.4.0"
description: Deploys.
license: Apache-2.0
skills: ["skills/*"]
skillpm: ">=0.3"
dependencies:
  acme/kubectl-basics: "^2.1"
  globex/ops: {oci: "oci://registry.example/globex/ops", version: "~1.3", skills: [rollout]}
  acme/tools: {git: "https://git.example/tools.git", tag: v1.2.0, path: packs/tools}
dev-dependencies:
  acme/near: {path: ../near}
aliases: {k8s-deploy: deploy@globex/ops}
agents: [claude-code, agents]
link-mode: copy
registries: ["https://packs.example", {name: acme, url: "oci://registry.example/acme"}]
namespaces: {acme: "oci://registry.example/acme"}
validate: {profiles: [claude-code], rules: {STR003: off}}
publish: {require-tests: true}
tags: [kubernetes, rollback]
requires: {bins: [kubectl], env: [KUBECONFIG], mcp: [tracker], os: [linux, macos]}
executable: ["scripts/*.sh", "skills/*/run"]
`

func TestParseManifest(t *testing.T) {
	m, err := pack.ParseManifest("skillpm.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(m.Bytes(), []byte(full)) {
		t.Error("Bytes differ from what was read")
	}
	for _, tt := range []struct{ what, got, want any }{
		{"name", m.Name, pack.ID{Owner: "acme", Name: "deploy"}},
		{"version", m.Version, "1.4.0"},
		{"description", m.Description, "Deploys."},
		{"license", m.License, "Apache-2.0"},
		{"skills", m.Skills, []string{"skills/*"}},
		{"skillpm", m.Skillpm, ">=0.3"},
		{"tags", m.Tags, []string{"kubernetes", "rollback"}},
		{"requires", m.Requires, skill.Requirements{
			Bins: []string{"kubectl"}, Env: []string{"KUBECONFIG"}, MCP: []string{"tracker"}, OS: []string{"linux", "darwin"},
		}},
		{"executable", m.Executable, []string{"scripts/*.sh", "skills/*/run"}},
		{"aliases", m.Aliases, []pack.Alias{{Alias: "k8s-deploy", Skill: "deploy", Pack: pack.ID{Owner: "globex", Name: "ops"}}}},
		{"agents", m.Agents, []string{"claude-code", "agents"}},
		{"link mode", m.LinkMode, pack.LinkCopy},
		{"registries", m.Registries, []pack.Registry{
			{Name: "https://packs.example", URL: "https://packs.example"},
			{Name: "acme", URL: "oci://registry.example/acme"},
		}},
		{"namespaces", m.Namespaces, map[string]string{"acme": "oci://registry.example/acme"}},
		{"validate", m.Validate.Profiles, []string{"claude-code"}},
		{"publish", m.Publish, pack.Publish{RequireTests: true}},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s is %v, want %v", tt.what, tt.got, tt.want)
		}
	}
	var deps []string
	for _, d := range append(m.Dependencies, m.DevDependencies...) {
		deps = append(deps, showDependency(d))
	}
	want := []string{
		"acme/kubectl-basics ^2.1 - []",
		"globex/ops ~1.3 oci://registry.example/globex/ops [rollout]",
		"acme/tools  git+https://git.example/tools.git//packs/tools#v1.2.0 []",
		"acme/near  ../near []",
	}
	if !reflect.DeepEqual(deps, want) {
		t.Errorf("dependencies\n%s, want\n%s", strings.Join(deps, "\n"), strings.Join(want, "\n"))
	}
}

func showDependency(d pack.Dependency) string {
	place := "-"
	if d.Ref != nil {
		if place = d.Ref.String(); d.Ref.Kind == pack.KindGit && d.Ref.Rev != "" && d.Ref.Digest != "" {
			place += "@" + d.Ref.Digest
		}
	}
	return fmt.Sprintf("%s %s %s %v", d.ID, d.Constraint, place, d.Skills)
}

// TestDependencyForms checks that every form of a dependency is read, and is read as the same after writing.
func TestDependencyForms(t *testing.T) {
	commit, digest := strings.Repeat("a", 40), "sha256:"+strings.Repeat("b", 64)
	for _, tt := range []struct{ text, want string }{
		{`"^1.2"`, "acme/x ^1.2 - []"},
		{`1.10`, "acme/x 1.10 - []"}, // and not 1.1
		{`1`, "acme/x 1 - []"},
		{`">=1.2 <2 || 3.x"`, "acme/x >=1.2 <2 || 3.x - []"},
		{`latest`, "acme/x latest - []"},
		{`{version: "*", skills: [a, b]}`, "acme/x * - [a b]"},
		{`{oci: "oci://registry.example/acme/x"}`, "acme/x  oci://registry.example/acme/x []"},
		{`{oci: "oci://registry.example:5000/acme/x", tag: "1.2.0"}`, "acme/x  oci://registry.example:5000/acme/x:1.2.0 []"},
		{`{oci: "oci://registry.example/acme/x", tag: "1", digest: "` + digest + `"}`, "acme/x  oci://registry.example/acme/x:1@" + digest + " []"},
		{`{layout: "../packs", version: "^1"}`, "acme/x ^1 oci-layout:../packs//acme/x []"},
		{`{layout: /srv/packs, tag: "1.0.0"}`, "acme/x  oci-layout:/srv/packs//acme/x:1.0.0 []"},
		{`{git: "https://git.example/x.git"}`, "acme/x  git+https://git.example/x.git []"},
		{`{git: "https://git.example/x.git", version: "^1"}`, "acme/x ^1 git+https://git.example/x.git []"},
		{`{git: "git+https://git.example/x.git", branch: main}`, "acme/x  git+https://git.example/x.git#main []"},
		{`{git: "git@git.example:acme/x.git", rev: ` + commit + `}`, "acme/x  git+ssh://git@git.example/acme/x.git#" + commit + " []"},
		{`{git: "https://git.example/x.git", tag: v1.0.0, digest: "` + commit + `"}`, "acme/x  git+https://git.example/x.git#v1.0.0@" + commit + " []"},
		{`{git: "github.com/acme/x", path: "a/b"}`, "acme/x  git+https://github.com/acme/x.git//a/b []"},
		{`{git: "file:///srv/x.git", tag: v1}`, "acme/x  git+file:///srv/x.git#v1 []"},
		{`{path: near}`, "acme/x  ./near []"},
		{`{path: "/srv/near", skills: [a]}`, "acme/x  /srv/near [a]"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			d := parseDependency(t, "acme/x", tt.text)
			if got := showDependency(d); got != tt.want {
				t.Fatalf("read as %s, want %s", got, tt.want)
			}
			for _, before := range []string{
				"", "dependencies: {acme/x: '*'}", "dependencies:\n  acme/x:\n    path: old\n    skills: [z]\n",
				"{\"dependencies\": {\"acme/y\": \"1\"}}",
			} {
				m, err := pack.ParseManifest("skillpm.yaml", []byte(before))
				if err != nil {
					t.Fatal(err)
				}
				if err := m.SetDependency(d); err != nil {
					t.Fatalf("%v (%s)", err, diag.HintOf(err))
				}
				again, err := pack.ParseManifest("skillpm.yaml", m.Bytes())
				if err != nil {
					t.Fatalf("%v\n%s", err, m.Bytes())
				}
				if got, _ := again.Dependency(d.ID); showDependency(got) != tt.want {
					t.Errorf("written as\n%sand read as %s, want %s", m.Bytes(), showDependency(got), tt.want)
				}
				checkSchema(t, "manifest", m.Bytes(), true)
			}
		})
	}
}

// bad lists invalid manifests, with the start of the message and the hint, and whether the schema rejects them too.
var bad = []struct {
	name, text, want, hint string
	schema                 bool
}{
	{"unknown key", "dependancies: {}", `1:1: unknown key "dependancies" in skillpm.yaml`, "did you mean dependencies?", true},
	{"strange key", "x: 1", `1:1: unknown key "x" in skillpm.yaml`, "use one of name, version", true},
	{"duplicate key", "name: a/b\nname: a/c", `2:1: the key "name" is duplicated; it first appears on line 1`, "", false},
	{"duplicate dependency", "dependencies:\n  a/b: \"1\"\n  a/b: \"2\"", `3:3: the key "a/b" is duplicated`, "", false},
	{"merge markers", "name: a/b\n<<<<<<< HEAD\nversion: 1.0.0\n=======\n>>>>>>> x", "2:1: unresolved merge conflict: <<<<<<< HEAD", "keep the lines that you need", false},
	{"not a mapping", "- a", "1:1: expected a mapping", "", true},
	{"requires as a list", "requires: [git]", "1:11: requires must be a mapping", "", true},
	{"requirement with a path", "requires: {bins: [/bin/sh]}", `1:19: invalid name "/bin/sh" in requires.bins`, "plain name", true},
	{"requirement of another kind", "requires: {files: [a]}", `unknown key "files"`, "", true},
	{"tags as text", "tags: k8s", "1:7: tags must be a list", "write [a, b]", true},
	{"tag with a space", "tags: [Kubernetes Jobs]", `1:8: tag "Kubernetes Jobs" may contain only lowercase letters`, "write kubernetes-jobs", true},
	{"tag that is none", "tags: [\"!\"]", `1:8: tag "!" may contain only lowercase letters`, "", true},
	{"tag twice", "tags: [a, a]", `1:11: "a" appears more than once in tags`, "", true},
	{"too many tags", "tags: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u]", "1:7: the pack has 21 tags; the limit is 20", "keep the most important tags", true},
	{"program outside", "executable: [../run]", `1:14: executable pattern "../run" is not a path inside the pack`, "scripts/*.sh", true},
	{"program of the system", "executable: [/bin/sh]", `1:14: executable pattern "/bin/sh" is not`, "", true},
	{"program with a backslash", "executable: [\"a\\\\b\"]", `1:14: executable pattern "a\\b" contains a backslash`, "use forward slashes", true},
	{"second document", "name: a/b\n---\nname: a/c", "2:1: unexpected second YAML document", "remove the line ---", false},
	{"not YAML", "name: [", "invalid YAML", "", false},
	{"tab", "a:\n\tb: 1", "invalid YAML: found character that cannot start any token", "", false},
	{"folded", "dependencies:\n  a/b: >1\n  a/c: \"1\"", "2:8: a/b must be one line of text", "write the value in quotes", false},
	{"at least", "dependencies:\n  a/b: >=1\n", "2:8: >=1 starts with a character that YAML reserves", `write the value in quotes: a/b: ">=1"`, false},
	{"star", "dependencies: \n  a/b: *\n", "2:8: * starts with a character", `write the value in quotes: a/b: "*"`, false},
	{"tilde", "dependencies: {a/b: ~}", "1:21: a/b is ~, which YAML reads as null", `write the value in quotes: "~"`, true},
	{"null", "dependencies: {a/b: }", "a/b does not have a value", "", true},
	{"tag", "version: !!str 1.0.0", "1:10: the YAML tag !!str is not allowed", "write the value in quotes", false},
	{"own tag", "dependencies:\n  a/b: !=1.0.0", "2:8: the YAML tag !=1.0.0 is not allowed", "write the value in quotes", false},
	{"anchor", "name: &x a/b", "1:7: the YAML anchor &x is not allowed", "write the value itself in quotes", false},
	{"alias", "dependencies: {a/b: &x '1', a/c: *x}", "the YAML anchor", "write the value itself in quotes", false},
	{"version", "version: 1.4", `1:10: invalid version "1.4"`, `use "1.4.0"`, true},
	{"version with v", "version: v1.4.0", `invalid version "v1.4.0"`, `use "1.4.0"`, true},
	{"no version", "version: new", `invalid version "new"`, "use three numbers", true},
	{"name", "name: Acme/Deploy", `1:7: pack owner "Acme" may contain only lowercase`, "", true},
	{"name without owner", "name: deploy", `1:7: invalid pack name "deploy"`, "use owner/name", true},
	{"range", "dependencies: {a/b: newest}", `1:21: invalid version range "newest"`, "use a range", false},
	{"a place as a range", "dependencies: {a/b: 'git+https://x/y.git'}", `is a source`, `use {git: "…"}`, false},
	{"two places", "dependencies: {a/b: {git: x, oci: y}}", "the pack has two sources, oci and git", "remove one of the sources", true},
	{"no place", "dependencies: {a/b: {tag: x}}", "tag requires a source: oci, layout, or git", "", true},
	{"nothing", "dependencies: {a/b: {}}", "the dependency has neither a version nor a source", "set a version range", true},
	{"only skills", "dependencies: {a/b: {skills: [x]}}", "the dependency has neither a version nor a source", "", true},
	{"unknown field", "dependencies: {a/b: {gti: x}}", `unknown key "gti" in a/b`, "did you mean git?", true},
	{"branch of OCI", "dependencies: {a/b: {oci: 'oci://h/r', branch: x}}", "branch cannot be used with oci", "", true},
	{"tag of a path", "dependencies: {a/b: {path: x, tag: '1'}}", "tag cannot be used with path", "", true},
	{"tag and branch", "dependencies: {a/b: {git: 'https://h/r.git', tag: x, branch: y}}", "tag and branch cannot be used together", "remove tag or branch", true},
	{"version and tag", "dependencies: {a/b: {git: 'https://h/r.git', tag: x, version: '1'}}", "version and tag cannot be used together", "remove version or tag", true},
	{"version and digest", "dependencies: {a/b: {oci: 'oci://h/r', digest: x, version: '1'}}", "version and digest cannot be used together", "remove version or digest", true},
	{"tag in the URL", "dependencies: {a/b: {oci: 'oci://h/r:1'}}", "contains a tag or digest", "use tag: for the tag, and digest: for the digest", true},
	{"revision in the URL", "dependencies: {a/b: {git: 'https://h/r.git#v1'}}", "contains a directory or a revision", "use path: for the directory, and tag:,", false},
	{"digest of git", "dependencies: {a/b: {git: 'https://h/r.git', digest: abc}}", `digest "abc" is not a commit`, "", true},
	{"option", "dependencies: {a/b: {git: 'https://h/r.git', tag: --upload-pack=x}}", "invalid tag, branch, or commit", "", false},
	{"outside", "dependencies: {a/b: {git: 'https://h/r.git', path: ../x}}", "is outside the source", "", false},
	{"credentials", "dependencies: {a/b: {git: 'https://me:secret@h/r.git'}}", "1:27: a source must not contain a user name or password", "", false},
	{"ext", "dependencies: {a/b: {git: 'ext::sh -c id'}}", "1:27: ", "", false},
	{"empty", "dependencies: {a/b: {path: ''}}", "path is empty", "", true},
	{"skill name", "dependencies: {a/b: {version: '1', skills: [A]}}", "the capital letter A", "", true},
	{"both", "dependencies: {a/b: '1'}\ndev-dependencies: {a/b: '1'}", "2:20: a/b is in both dependencies and dev-dependencies", "remove one", false},
	{"itself", "name: a/b\ndependencies: {a/b: '1'}", "2:16: a/b depends on itself", "remove this line", false},
	{"alias without a pack", "aliases: {x: deploy}", `instead of a skill and its pack`, `use the form "skill@owner/name"`, true},
	{"alias name", "aliases: {X: deploy@a/b}", "alias \"X\": the name", "", true},
	{"two aliases", "aliases: {x: deploy@a/b, y: deploy@a/b}", "deploy@a/b has two aliases, x and y", "", false},
	{"skills outside", "skills: [../x]", `1:10: skills pattern "../x" is not a directory inside the pack`, "relative to this file", true},
	{"absolute skills", "skills: [/x]", "is not a directory inside the pack", "", true},
	{"backslash", `skills: ['a\b']`, "contains a backslash", "use forward slashes", true},
	{"open pattern", "skills: ['[a']", "contains an unclosed bracket", "", false},
	{"skills twice", "skills: [a, a]", `"a" appears more than once in skills`, "", true},
	{"skills as text", "skills: a", "skills must be a list", "write [a, b]", true},
	{"link mode", "link-mode: later", `1:12: unknown link-mode "later"`, "use one of symlink, copy, or hardlink", true},
	{"registries as text", "registries: x", "registries must be a list", "add a list entry for each registry, such as", true},
	{"registry without url", "registries: [{name: x}]", "the registry does not have a url", "", true},
	{"registry twice", "registries: [x, x]", `"x" appears more than once in registries`, "", false},
	{"secret", "registries: ['https://me:pw@h/x']", "a registry contains credentials", "credential helper", true},
	{"namespace", "namespaces: {A: x}", `invalid owner "A"`, "", true},
	{"validate", "validate: x", "validate must be a mapping", "", true},
	{"publish", "publish: x", "publish must be a mapping", "", true},
	{"publish key", "publish: {tests: true}", `unknown key "tests"`, "", true},
	{"require-tests", "publish: {require-tests: all}", "require-tests must be true or false", "without quotes", true},
	{"budget", "budget: x", "budget must be a mapping", "", true},
	{"budget of an unknown agent", "budget: {claud: 1}", `unknown agent "claud"`, "did you mean claude-code?", false},
	{"budget of nothing", "budget: {codex: 0}", "codex must be a number from 1 to 1073741824", "", true},
	{"line break", `license: "a\nb"`, "license contains a line break", "", false},
}

func TestParseManifestRefuses(t *testing.T) {
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pack.ParseManifest("skillpm.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "skillpm.yaml:") {
				t.Fatalf("got %v, want skillpm.yaml: … %s", err, tt.want)
			}
			if diag.CodeOf(err) != diag.Invalid || !strings.Contains(diag.HintOf(err), tt.hint) {
				t.Errorf("code %s, hint %q, want %q", diag.CodeOf(err), diag.HintOf(err), tt.hint)
			}
			if strings.Contains(err.Error()+diag.HintOf(err), "secret") {
				t.Errorf("it repeats the password: %v", err)
			}
			if tt.schema {
				checkSchema(t, "manifest", []byte(tt.text), false)
			}
		})
	}
	big := append([]byte("description: "), bytes.Repeat([]byte("x"), 2<<20)...)
	if _, err := pack.ParseManifest("skillpm.yaml", big); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("2 MiB: %v", err)
	}
	deep := strings.Repeat("[", 20000)
	if _, err := pack.ParseManifest("skillpm.yaml", []byte("validate: "+deep)); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("20,000 levels: %v", err)
	}
}

// TestParseManifestEmpty checks that an empty text is an empty manifest.
func TestParseManifestEmpty(t *testing.T) {
	for _, text := range []string{
		"", "\n", "# only a comment\n", "---\n", "{}", "\ufeff", "~",
		"name:\nversion:\ndescription:\nlicense:\nskills:\ndependencies:\naliases:\nagents:\nregistries:\nnamespaces:\nvalidate:\n",
	} {
		m, err := pack.ParseManifest("skillpm.yaml", []byte(text))
		if err != nil || len(m.Dependencies)+len(m.Aliases)+len(m.Agents) > 0 || !m.Name.IsZero() {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
}

func TestParseConfig(t *testing.T) {
	text := "registries:\n  - https://packs.example\nnamespaces: {acme: 'oci://r.example/acme'}\nagents: [codex]\nlink-mode: symlink\n"
	c, err := pack.ParseConfig("config.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Registries) != 1 || c.Namespaces["acme"] != "oci://r.example/acme" || c.Agents[0] != "codex" || c.LinkMode != "symlink" {
		t.Errorf("%+v", c)
	}
	checkSchema(t, "config", []byte(text), true)
	for _, tt := range []struct{ text, want string }{
		{"dependencies: {}", `config.yaml:1:1: unknown key "dependencies" in the configuration`},
		{"registry: x", `unknown key "registry"`},
		{"agents: codex", "agents must be a list"},
		{"registries: [{name: 'a b', url: x}]", "the name of a registry must consist of letters"},
		{"registries: [{name: -x, url: x}]", "the name of a registry must consist of letters"},
		{"registries: [{name: x;id, url: x}]", "the name of a registry must consist of letters"},
		{"registries: [{name: $(id), url: x}]", "the name of a registry must consist of letters"},
	} {
		if _, err := pack.ParseConfig("config.yaml", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
		checkSchema(t, "config", []byte(tt.text), false)
	}
}

// TestLongReleaseAge checks the error about an implausibly long minimum release age.
func TestLongReleaseAge(t *testing.T) {
	for _, tt := range []struct{ age, want, hint string }{
		{"3650d", "", ""},
		{"87600h", "", ""},
		{"3651d", "is longer than ten years", "use at most 3650d"},
		{"999999h", "is longer than ten years", "use at most 3650d"},
		{"99999999999h", "invalid min-release-age", "use hours or days, such as 72h or 3d"},
		{"a week", "invalid min-release-age", "use hours or days, such as 72h or 3d"},
		{"-1h", "invalid min-release-age", "use hours or days, such as 72h or 3d"},
	} {
		_, err := pack.ParseManifest("skillpm.yaml", []byte("min-release-age: "+tt.age+"\n"))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || diag.HintOf(err) != tt.hint) {
			t.Errorf("%s: %v, hint %q; want %q, hint %q", tt.age, err, diag.HintOf(err), tt.want, tt.hint)
		}
	}
}

// FuzzManifest reads any text and edits it. An edit never panics, a rejected one changes nothing, and an applied one
// has the requested effect, keeps every comment, and can be reverted.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(full), "acme/new", "^1")
	for _, tt := range bad {
		f.Add([]byte(tt.text), "acme/new", "^1")
	}
	for _, text := range []string{
		"dependencies:\r\n  acme/new: '1' # x\r\n", "{\"dependencies\": {\"acme/new\": \"1\"}}", "dependencies: {a/b: [}",
		"dependencies: {a/b: 'x''y'}", "description: |+\n  x\n\n", "a: \u2028 b", "? dependencies\n: {a/b: '1'}\n",
		"dependencies: # {\n  {a/b: \"1\", # }\n  a/c: '2'}\n", "  dependencies:\n    a/b: 1\n  agents: [x]\n...\n# end",
	} {
		f.Add([]byte(text), "a/b", "~2")
	}
	f.Fuzz(func(t *testing.T, data []byte, name, constraint string) {
		m, err := pack.ParseManifest("skillpm.yaml", data)
		id, errID := pack.ParseID(name)
		if err != nil || errID != nil {
			return
		}
		was, had := m.Dependency(id)
		if err := m.SetDependency(pack.Dependency{ID: id, Constraint: constraint}); err != nil {
			if !bytes.Equal(m.Bytes(), data) {
				t.Fatalf("refused with %v, and changed to\n%s", err, m.Bytes())
			}
			return
		}
		got, ok := m.Dependency(id)
		if want := constraint; !ok || got.Constraint != want && (want != "" || got.Constraint != "*") || got.Ref != nil {
			t.Fatalf("set %q, got %+v in\n%s", constraint, got, m.Bytes())
		}
		if before, after := comments(data), comments(m.Bytes()); !had && !strings.Contains(after, before) && before != "" {
			t.Fatalf("comments %q became %q", before, after)
		}
		if had {
			err = m.SetDependency(was)
		} else {
			_, err = m.RemoveDependency(id)
		}
		if err == nil {
			if again, ok := m.Dependency(id); ok != had || had && showDependency(again) != showDependency(was) {
				t.Fatalf("taken back: %+v, was %+v", again, was)
			}
		}
	})
}

// comments returns the lines that have only comments.
func comments(data []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

func BenchmarkParseManifest(b *testing.B) {
	text := []byte(full + "# end\n")
	for i := range 100 {
		text = fmt.Appendf(text, "#%d\n", i)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := pack.ParseManifest("skillpm.yaml", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSetDependency(b *testing.B) {
	var text strings.Builder
	text.WriteString("dependencies:\n")
	for i := range 100 {
		fmt.Fprintf(&text, "  acme/pack-%d: \"^1.%d\" # why\n", i, i)
	}
	m, err := pack.ParseManifest("skillpm.yaml", []byte(text.String()))
	if err != nil {
		b.Fatal(err)
	}
	d := pack.Dependency{ID: pack.ID{Owner: "acme", Name: "new"}, Constraint: "^2"}
	for b.Loop() {
		if err := m.Clone().SetDependency(d); err != nil {
			b.Fatal(err)
		}
	}
}
