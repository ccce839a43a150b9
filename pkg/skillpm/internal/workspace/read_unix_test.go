//go:build unix

package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// TestReadOptional checks that special or oversized files are rejected and never block.
func TestReadOptional(t *testing.T) {
	for name, tt := range map[string]struct {
		put  func(name string) error
		want diag.Code
	}{
		"none":  {func(string) error { return nil }, 0},
		"empty": {func(name string) error { return os.WriteFile(name, nil, 0o600) }, 0},
		"pipe":  {func(name string) error { return syscall.Mkfifo(name, 0o600) }, diag.Invalid},
		"link":  {func(name string) error { return os.Symlink("/dev/zero", name) }, diag.Invalid},
		"huge": {func(name string) error {
			return errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 1<<40))
		}, diag.Invalid},
	} {
		at := filepath.Join(t.TempDir(), "skillpm.yaml")
		if err := tt.put(at); err != nil {
			t.Fatal(err)
		}
		data, err := safefile.ReadOptional(at)
		if diag.CodeOf(err) != tt.want || (data != nil) != (name == "empty") {
			t.Errorf("%s: %v, %v, want %v", name, data, err, tt.want)
		}
	}
}
