//go:build unix

package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

// TestHostileFiles checks that a SKILL.md that is a special file or too large is reported, and never blocks.
func TestHostileFiles(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/good/SKILL.md --
good
-- home/.skillpm/skills/dir/SKILL.md/x --
-- home/.skillpm/skills/huge/SKILL.md --
huge
-- home/.skillpm/skills/secret/SKILL.md --
secret
-- home/.omniforge/skills/x/SKILL.md --
x
`)
	w.write("home/.skillpm/skills/endless/SKILL.md", "---\nname: endless\n"+strings.Repeat("# comment\n", 50000))
	if err := os.Truncate(w.path("home/.skillpm/skills/huge/SKILL.md"), 1<<30); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "again"} {
		if err := os.Mkdir(w.path("home/.skillpm/skills/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(w.path("home/.skillpm/skills/"+name+"/SKILL.md"), 0o644); err != nil {
			t.Skip(err)
		}
	}
	w.options.Cache = w.path("cache")
	for range 2 {
		c := w.expect("good=good secret=secret x=x")
		for _, text := range []string{"not a regular file", "1073741824 bytes", "does not have a closing ---"} {
			if f := w.finds(c, "CA001", text); f.Severity != diag.SeverityError {
				t.Errorf("got %+v", f)
			}
		}
	}
	if os.Geteuid() == 0 {
		return // root may read everything
	}
	if err := os.Chmod(w.path("home/.skillpm/skills/secret/SKILL.md"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.path("home/.omniforge/skills"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(w.path("home/.omniforge/skills"), 0o755) })
	c := w.expect("good=good")
	w.finds(c, "CA001", "permission denied")
	f := w.finds(c, "CA009", "permission denied")
	if f.Path != filepath.ToSlash(w.path("home/.omniforge/skills")) {
		t.Errorf("got %+v", f)
	}
}
