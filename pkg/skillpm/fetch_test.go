package skillpm_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestFetch checks that an approver can inspect exactly what an installation would add, without activating it (O14).
func TestFetch(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/base", "1.0.0", nil, "base")
	w.publish("acme/tools", "1.2.0", map[string]string{"acme/base": "^1"}, "tool")
	w.manifest()
	before := w.read("skillpm.yaml")
	got, err := w.client().Fetch(t.Context(), skillpm.FetchOptions{Pack: "acme/tools"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range got {
		for _, s := range p.Skills {
			name := s.Name + "@" + p.Pack + " " + p.Version
			if p.Named {
				name += " named"
			}
			names = append(names, name)
			if inv, err := bundle.Sum(s.Files, "."); err != nil || inv.Digest() != s.Tree {
				t.Errorf("%s: its files have the digest %s, want %s: %v", name, inv.Digest(), s.Tree, err)
			}
			if text, err := fs.ReadFile(s.Files, "SKILL.md"); err != nil || !strings.Contains(string(text), "name: "+s.Name) {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
	}
	if got, want := strings.Join(names, ", "), "base@acme/base 1.0.0, tool@acme/tools 1.2.0 named"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if w.read("skillpm.yaml") != before {
		t.Error("the manifest changed")
	}
	for _, name := range []string{"skillpm.lock", ".skillpm"} {
		if _, err := os.Lstat(filepath.Join(w.dir, name)); err == nil {
			t.Errorf("there is a %s", name)
		}
	}
	w.manifest(`acme/tools: "^1"`)
	w.install()
	if got, err := w.client().Fetch(t.Context(), skillpm.FetchOptions{Pack: "acme/tools"}); err != nil || len(got) != 1 || got[0].Pack != "acme/tools" {
		t.Errorf("what is installed: %+v, %v", got, err)
	}
	writeFiles(t, filepath.Join(w.home, "enterprise"), map[string]string{"policy.yaml": "version: 1\nskills: {deny: [tool]}\n"})
	if _, err := w.client().Fetch(t.Context(), skillpm.FetchOptions{Pack: "acme/tools"}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("what is denied: %v", err)
	}
}
