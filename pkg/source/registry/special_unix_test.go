//go:build unix

package registry_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// TestDirSpecialFiles uses an index in a directory, for example in a cloned repository, with special files and links:
// reading them would block or reveal other files.
func TestDirSpecialFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("Xyzzy"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := parseID(t, "acme/deploy")
	tests := map[string]struct {
		put  func(name string) error
		want string
	}{
		"pipe":   {func(name string) error { return syscall.Mkfifo(name, 0o600) }, "not a regular file"},
		"device": {func(name string) error { return os.Symlink("/dev/zero", name) }, "escapes"},
		"link":   {func(name string) error { return os.Symlink(secret, name) }, "escapes"},
		"large": {func(name string) error {
			return errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, index.MaxBytes+1))
		}, "bytes; the limit is "},
	}
	for kind, tt := range tests {
		for _, file := range []string{index.ConfigPath, index.Path(id)} {
			t.Run(kind+" "+filepath.Base(file), func(t *testing.T) {
				dir := t.TempDir()
				at := filepath.Join(dir, "reg", filepath.FromSlash(file))
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), tt.put(at)); err != nil {
					t.Fatal(err)
				}
				_, err := open(t, "./reg", registry.Deps{Base: dir}).Versions(t.Context(), id)
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "X") {
					t.Errorf("got %v, want that it %s, and nothing of what is in it", err, tt.want)
				}
			})
		}
	}
}
