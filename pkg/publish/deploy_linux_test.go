package publish_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
)

// TestO15DeployNotAllowed checks SPEC O15: users other than the administrator get an error that names who may deploy.
func TestO15DeployNotAllowed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be somebody else for a while")
	}
	c, o := deployed(t)
	if err := os.MkdirAll(filepath.Join(o.Catalog.Paths.Enterprise, "skills"), 0o755); err != nil {
		t.Fatal(err)
	}
	for at := o.Catalog.Paths.Enterprise; at != os.TempDir() && len(at) > 1; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for at := c.Dir; at != os.TempDir() && len(at) > 1; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread() // whose files it works with, a thread has for itself; it ends with the test
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	_, err := c.Deploy(t.Context(), o)
	if restore := syscall.Setfsuid(0); restore != nil {
		t.Fatal(restore)
	}
	if diag.CodeOf(err) != diag.Denied || !strings.Contains(diag.HintOf(err), "as root") {
		t.Errorf("%v (%s)", err, diag.HintOf(err))
	}
	o.Scope = publish.DeployPersonal
	if r, err := c.Deploy(t.Context(), o); err != nil || r.Action != publish.DeployAdded {
		t.Errorf("%+v, %v", r, err)
	}
}
