//go:build !linux

package sandbox

import (
	"errors"
	"os/exec"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

// TestNotConfined proves that this system confines no command, and refuses one that requires confinement.
func TestNotConfined(t *testing.T) {
	box, err := New(&Rules{}, nil, exec.Command("true"))
	missing, ok := errors.AsType[*UnavailableError](err)
	if box != nil || !ok || diag.CodeOf(missing) != diag.Denied {
		t.Errorf("%v, %v, code %v", box, err, diag.CodeOf(err))
	}
	if Version() != 0 {
		t.Errorf("version %d", Version())
	}
}
