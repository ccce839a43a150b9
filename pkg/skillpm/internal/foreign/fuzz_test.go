package foreign_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/foreign"
)

// FuzzParse checks the invariants of every file: an error has a code, and a manifest can express every dependency.
func FuzzParse(f *testing.F) {
	for _, seed := range []struct{ name, text string }{
		{"skills-lock.json", `{"version":1,"skills":{"a":{"source":"acme/ops","sourceType":"github","ref":"v1.0.0","skillPath":"skills/a/SKILL.md"}}}`},
		{"x/skills-lock.json", `{"version":1,"skills":{"a":{"source":"./x","sourceType":"local"}}}`},
		{".skill-lock.json", `{"version":3,"skills":{"a":{"source":"acme/ops","sourceUrl":"git@git.example:acme/ops.git","sourceType":"git"}}}`},
		{"apm.yml", "dependencies:\n  apm:\n    - acme/ops/skills/x#^1.2\n    - {git: https://git.example/a/b.git, path: c, ref: v1, alias: d, skills: [e]}\n    - ./x\n"},
		{"apm.lock.yaml", "lockfile_version: '1'\ndependencies:\n- repo_url: acme/ops\n  host: git.example\n  resolved_ref: v1.0.0\n  resolved_commit: " + sha1 + "\n"},
		{".claude-plugin/marketplace.json", `{"metadata":{"pluginRoot":"./p"},"plugins":[{"name":"a","source":"./","skills":["./skills/a"]},{"name":"b","source":{"source":"git-subdir","url":"acme/ops","path":"x","ref":"main","sha":"` + sha2 + `"}}]}`},
		{"marketplace.json", `{"plugins":[{"name":"a","source":"x","strict":false,"skills":"./b"}]}`},
	} {
		f.Add(seed.name, []byte(seed.text))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		imp, err := foreign.Parse(name, data)
		if err != nil {
			if diag.CodeOf(err) != diag.Invalid {
				t.Fatalf("code %s of %v", diag.CodeOf(err), err)
			}
			printable(t, err.Error())
			return
		}
		manifest := pack.NewManifest(pack.ManifestName)
		seen := make(map[pack.ID]bool)
		for _, item := range imp.Dependencies {
			d := item.Dependency
			if seen[d.ID] {
				t.Fatalf("%s is duplicated", d.ID)
			}
			seen[d.ID] = true
			if id, err := d.Ref.DefaultID(); err != nil || id != d.ID {
				t.Fatalf("%s is called %s, %v", d.Ref, id, err)
			}
			if item.Alias != "" && !skill.LegalName(item.Alias) {
				t.Fatalf("alias %q", item.Alias)
			}
			for _, name := range item.Names {
				printable(t, name)
			}
			if err := manifest.SetDependency(d); err != nil {
				t.Fatalf("%+v: %v", d, err)
			}
		}
		for _, s := range imp.Skipped {
			printable(t, s.What)
			printable(t, s.Why)
		}
		again, err := pack.ParseManifest(pack.ManifestName, manifest.Bytes())
		if err != nil {
			t.Fatalf("%v in\n%s", err, manifest.Bytes())
		}
		if len(again.Dependencies) != len(imp.Dependencies) {
			t.Fatalf("%d dependencies became %d in\n%s", len(imp.Dependencies), len(again.Dependencies), manifest.Bytes())
		}
		for i, d := range again.Dependencies {
			if want := imp.Dependencies[i].Dependency; *d.Ref != *want.Ref || d.Constraint != want.Constraint {
				t.Fatalf("%+v became %+v", want.Ref, d.Ref)
			}
		}
	})
}

func printable(t *testing.T, s string) {
	t.Helper()
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r) }) {
		t.Fatalf("%q is not printable", s)
	}
}

// TestParseIntoManifest checks that imported dependencies can be written into a manifest and are read as the same.
func TestParseIntoManifest(t *testing.T) {
	imp := parse(t, ".claude-plugin/marketplace.json", `{"plugins": [
{"name": "deploy", "source": {"source": "github", "repo": "acme/deploy", "ref": "v1.0.0", "sha": "`+sha1+`"}},
{"name": "branch", "source": {"source": "github", "repo": "acme/branch", "ref": "main", "sha": "`+sha2+`"}},
{"name": "sub", "source": {"source": "git-subdir", "url": "globex/mono", "path": "plugins/sub"}, "strict": false, "skills": ["./skills/a"]},
{"name": "local", "source": "./plugins/local"}]}`)
	m := pack.NewManifest(pack.ManifestName)
	for _, item := range imp.Dependencies {
		if err := m.SetDependency(item.Dependency); err != nil {
			t.Fatal(err)
		}
	}
	want := `dependencies:
  acme/deploy: {git: "https://github.com/acme/deploy.git", tag: "v1.0.0", digest: "` + sha1 + `"}
  acme/branch: {git: "https://github.com/acme/branch.git", rev: "` + sha2 + `"}
  globex/sub: {git: "https://github.com/globex/mono.git", path: "plugins/sub", skills: [a]}
  local/local: {path: "./plugins/local"}
`
	if got := string(m.Bytes()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
