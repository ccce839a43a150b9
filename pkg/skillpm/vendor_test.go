package skillpm_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestVendorConcurrentEdit checks that a vendored skill that is edited while another is fetched is not replaced.
func TestVendorConcurrentEdit(t *testing.T) {
	server := ocitest.New(t)
	dir, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"one", "two"} {
		src := t.TempDir()
		writePack(t, src, "acme/"+name, "1.0.0", 1)
		if _, err := newAuthor(t, src, t.TempDir()).Publish(t.Context(), publish.ReleaseOptions{To: server.URL("acme")}); err != nil {
			t.Fatal(err)
		}
		place := server.URL("acme/"+name) + ":1.0.0"
		if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: []string{place}}); err != nil {
			t.Fatal(err)
		}
		if _, err := newClient(t, dir, home).Vendor(t.Context(), skillpm.VendorOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	mine := filepath.Join(dir, "vendor", "skills", "acme", "one", "one-0", "SKILL.md")
	for _, gone := range []string{filepath.Join(dir, "vendor", "skills", "acme", "two"), filepath.Join(dir, ".skillpm", "plugins")} {
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
	}
	fetched := false
	server.Meddle(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			fetched = true
			if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
				t.Error(err)
			}
		}
		return false
	})
	_, err := newClient(t, dir, t.TempDir()).Vendor(t.Context(), skillpm.VendorOptions{})
	if !fetched || diag.CodeOf(err) != diag.Conflict {
		t.Errorf("fetched %v: %v, want a conflict", fetched, err)
	}
	if data, err := os.ReadFile(mine); err != nil || string(data) != "mine" {
		t.Errorf("the edited copy is %q (%v)", data, err)
	}
}
