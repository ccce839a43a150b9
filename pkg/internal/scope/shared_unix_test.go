//go:build unix

package scope_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestProjectOfAnotherUser checks that a skillpm.yaml of another user does not become the project of everybody who is
// below a directory such as /tmp. In the directory itself it does, and below one that only its owner can write to.
func TestProjectOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, tt := range []struct {
		name  string
		mode  os.FileMode
		owner int
		dir   string
		found bool
	}{
		{"a shared directory", os.ModeSticky | 0o777, 12345, "shared/mine", false},
		{"the directory itself", os.ModeSticky | 0o777, 12345, "shared", true},
		{"own file", os.ModeSticky | 0o777, os.Geteuid(), "shared/mine", true},
		{"another user's directory", 0o755, 12345, "shared/mine", true},
	} {
		root, paths := layout(t, "shared/skillpm.yaml", "shared/mine/")
		shared := filepath.Join(root, "shared")
		if err := os.Chmod(shared, tt.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(shared, "skillpm.yaml"), tt.owner, -1); err != nil {
			t.Skip("this root may not give files away")
		}
		if got, found, err := paths.Project(tt.dir); err != nil || found != tt.found {
			t.Errorf("%s: %+v, %t, %v, want %t", tt.name, got, found, err, tt.found)
		}
	}
}
