package catalog_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// TestFolders checks that folders are trusted by their real paths, with their content, that the home directory cannot
// be trusted, that concurrent changes are all kept, and that an unreadable file trusts nothing.
func TestFolders(t *testing.T) {
	w := newFixture(t, "omniforge", `
link home/alias src/app
-- app/sub/x --
-- home/src/apple/x --
-- file --
`)
	f := catalog.TrustedFolders(w.options.Paths)
	has := func(dir string) bool {
		trusted, _ := f.Has(dir)
		return trusted
	}
	now := time.Date(2026, 11, 22, 16, 0, 0, 0, time.UTC)
	if list, err := f.List(); err != nil || len(list) > 0 || has(w.path("app")) {
		t.Errorf("at first: %v, %v", list, err)
	}
	if real, err := f.Add(w.path("home/alias"), now); err != nil || real != w.path("app") {
		t.Errorf("got %s, %v", real, err)
	}
	for dir, want := range map[string]bool{"app": true, "home/alias": true, "app/sub": true, "home/src/apple": false, "home/src": false, "home/src/gone": false} {
		if got := has(w.path(dir)); got != want {
			t.Errorf("%s is trusted: %v", dir, got)
		}
	}
	info, err := os.Stat(f.Path())
	if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("got %v, %v", info, err)
	}
	for dir, want := range map[string]diag.Code{"home": diag.Usage, "home/src/gone": diag.NotFound, "file": diag.Usage} {
		if _, err := f.Add(w.path(dir), now); diag.CodeOf(err) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := f.Add(w.dir, now); diag.CodeOf(err) != diag.Usage {
		t.Errorf("above the home directory: %v", err)
	}
	if err := os.Chmod(w.path("home/src/apple"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(w.path("home/src/apple"), now); diag.CodeOf(err) != diag.Usage && runtime.GOOS != "windows" {
		t.Errorf("where everybody may write: %v", err)
	}
	odd := w.path("home/src/app\xff")
	if err := os.Mkdir(odd, 0o755); err == nil { // macOS and Windows have no such names
		if _, err := f.Add(odd, now); diag.CodeOf(err) != diag.Usage || has(w.path("home/src/app\ufffd")) {
			t.Errorf("a name that is not UTF-8: %v", err)
		}
	}
	if _, err := f.Remove(w.path("home/src/apple")); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("got %v", err)
	}
	if removed, err := f.Remove(w.path("home/alias")); err != nil || removed != w.path("app") || has(w.path("app")) {
		t.Errorf("got %s, %v", removed, err)
	}

	var group sync.WaitGroup
	for i := range 20 {
		w.write(fmt.Sprintf("home/src/p%d/x", i), "")
		group.Go(func() {
			if _, err := catalog.TrustedFolders(w.options.Paths).Add(w.path(fmt.Sprintf("home/src/p%d", i)), now); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if list, err := f.List(); err != nil || len(list) != 20 || !list[0].Since.Equal(now) {
		t.Errorf("got %v, %v", list, err)
	}
	const again = "trust the directories again"
	for text, hint := range map[string]string{
		"": again, "{": again, `{"version": 0}`: again,
		`{"version": 2, "folders": [{"path": "/"}]}`: "use a newer skillpm",
	} {
		if err := os.WriteFile(f.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.List(); diag.CodeOf(err) != diag.Invalid || !strings.Contains(diag.HintOf(err), hint) || has(w.path("home/src/p1")) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := f.Add(w.path("app"), now); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%q is written over: %v", text, err)
		}
		w.write("app/.skillpm/skills/a/SKILL.md", "d")
		w.options.RequireTrust = true
		if f := w.finds(w.expect(""), "CA010", "skipped 1 skill: cannot read the trusted directories"); !strings.Contains(f.Fix, hint) {
			t.Errorf("got %+v", f)
		}
	}
}
