//go:build unix

package safefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// linkedFiles returns a directory with a file of each kind.
func linkedFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600),
		os.WriteFile(filepath.Join(dir, "large"), []byte("more text"), 0o600),
		os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600),
		os.WriteFile(outside, []byte("text"), 0o600),
		os.Mkdir(filepath.Join(dir, "dir"), 0o700),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		os.Symlink("file", filepath.Join(dir, "link")),
		os.Symlink("pipe", filepath.Join(dir, "link-to-pipe")),
		os.Symlink("/dev/zero", filepath.Join(dir, "device")),
		os.Symlink(outside, filepath.Join(dir, "out")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := linkedFiles(t)
	const missing = diag.Code(-1)
	tests := map[string]struct {
		want   string
		code   diag.Code // of the file by name
		inside diag.Code // of the file in its directory
	}{
		"file":         {want: "text"},
		"empty":        {},
		"link":         {want: "text"},
		"out":          {want: "text", inside: diag.Internal},
		"large":        {code: diag.Invalid, inside: diag.Invalid},
		"dir":          {code: diag.Invalid, inside: diag.Invalid},
		"pipe":         {code: diag.Invalid, inside: diag.Invalid},
		"link-to-pipe": {code: diag.Invalid, inside: diag.Invalid},
		"device":       {code: diag.Invalid, inside: diag.Internal},
		"none":         {code: missing, inside: missing},
	}
	check := func(t *testing.T, data []byte, err error, want string, code diag.Code) {
		t.Helper()
		switch {
		case code == 0 && (err != nil || string(data) != want):
			t.Errorf("got %q, %v, want %q", data, err, want)
		case code == missing && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("got %q, %v, want that there is none", data, err)
		case code != 0 && code != missing && (err == nil || diag.CodeOf(err) != code):
			t.Errorf("got %q, %v, want an error with the code %v", data, err, code)
		}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := safefile.ReadFile(filepath.Join(dir, name), 4)
			check(t, data, err, tt.want, tt.code)
			data, err = safefile.ReadIn(safefile.Dir(dir), name, 4)
			check(t, data, err, tt.want, tt.inside)
		})
	}
}

// TestDirOpen checks that opening a pipe in a directory fails, too.
func TestDirOpen(t *testing.T) {
	dir := safefile.Dir(linkedFiles(t))
	for name, want := range map[string]bool{"file": true, "link": true, "dir": true, ".": true, "pipe": false, "device": false, "../x": false} {
		f, err := dir.Open(name)
		if (err == nil) != want {
			t.Errorf("open %s: %v, want it to succeed: %v", name, err, want)
		}
		if err == nil {
			_ = f.Close()
		}
	}
}

func TestMine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mine := func(name string) bool {
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		return safefile.Mine(info)
	}
	if !mine(file) {
		t.Error("a file that was just written is somebody else's")
	}
	other := "/" // root's
	if os.Geteuid() == 0 {
		if other = file; os.Chown(file, 12345, -1) != nil {
			t.Skip("this root may not give files away")
		}
	}
	if mine(other) {
		t.Errorf("%s belongs to somebody else, and is mine", other)
	}
}
