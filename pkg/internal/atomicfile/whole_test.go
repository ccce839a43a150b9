package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	for _, test := range []struct {
		name string
		o    atomicfile.Options
		old  string // "" where there is none
		want fs.FileMode
	}{
		{"new", atomicfile.Options{}, "", 0o600},
		{"with a mode", atomicfile.Options{Mode: 0o644}, "", 0o644},
		{"a mode that the mask would take", atomicfile.Options{Mode: 0o666}, "", 0o666},
		{"replaced", atomicfile.Options{Mode: 0o644}, "old", 0o644},
		{"synced", atomicfile.Options{Mode: 0o640, Sync: true}, "old", 0o640},
		{"special bits are left out", atomicfile.Options{Mode: fs.ModeSetuid | 0o755}, "", 0o755},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if test.old != "" {
				write(t, path, test.old)
			}
			if err := atomicfile.Write(path, []byte("new"), test.o); err != nil {
				t.Fatal(err)
			}
			wantFile(t, path, "new")
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if runtime.GOOS != "windows" && info.Mode() != test.want {
				t.Errorf("its mode is %v, want %v", info.Mode(), test.want)
			}
			wantAlone(t, path)
		})
	}
}

func TestMissingDirectories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "file")
	if err := atomicfile.Write(path, nil, atomicfile.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
	if err := atomicfile.Write(path, nil, atomicfile.Options{MkdirMode: 0o700, Sync: true}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the directory's mode is %v", info.Mode())
	}
	wantFile(t, path, "")
}

// TestFailureLeavesTheOldFile proves that a writer that fails in the middle changes nothing and leaves nothing behind.
func TestFailureLeavesTheOldFile(t *testing.T) {
	full := errors.New("full")
	for _, test := range []struct {
		name string
		do   func(path string) error
	}{
		{"a function that fails", func(path string) error {
			return atomicfile.Stream(path, atomicfile.Options{Mode: 0o644}, func(w io.Writer) error {
				if _, err := io.WriteString(w, "half of"); err != nil {
					return err
				}
				return full
			})
		}},
		{"a reader that fails", func(path string) error {
			return atomicfile.From(path, io.MultiReader(strings.NewReader("half of"), iotest.ErrReader(full)), atomicfile.Options{Sync: true})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			write(t, path, "old")
			if err := test.do(path); err != full { //nolint:errorlint // it is returned as it is
				t.Errorf("err = %v, want %v itself", err, full)
			}
			wantFile(t, path, "old")
			wantAlone(t, path)
		})
	}
}

// TestFailedWrite proves that errors about the temporary file name the target file.
func TestFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	err := atomicfile.Stream(path, atomicfile.Options{}, func(w io.Writer) error {
		_ = w.(io.Closer).Close() // the next write fails
		_, err := w.Write([]byte("new"))
		return err
	})
	pe, ok := errors.AsType[*fs.PathError](err)
	if !ok || pe.Path != path || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("err = %v", err)
	}
	wantFile(t, path, "old")
	wantAlone(t, path)
}

// TestRenameFails proves that a directory is not replaced, and that the error names the target.
func TestRenameFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, filepath.Join(path, "inside"), "kept")
	err := atomicfile.Write(path, []byte("new"), atomicfile.Options{})
	pe, ok := errors.AsType[*fs.PathError](err)
	if !ok || pe.Path != path || strings.Contains(err.Error(), ".tmp-") {
		t.Errorf("err = %v", err)
	}
	wantFile(t, filepath.Join(path, "inside"), "kept")
	wantAlone(t, path)
}

func TestNoPermission(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is forbidden to this user")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	write(t, path, "old")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	err := atomicfile.Write(path, []byte("new"), atomicfile.Options{})
	if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), ".tmp-") {
		t.Errorf("err = %v", err)
	}
	wantFile(t, path, "old")
}

func TestLinks(t *testing.T) {
	for _, test := range []struct {
		name                string
		follow              bool
		target              string // what the link points to has this content, "" if there is nothing
		wantLink            bool
		wantFile, wantThere string
	}{
		{"a link is replaced", false, "other", false, "new", "other"},
		{"a link is followed where that is asked for", true, "other", true, "new", "new"},
		{"a link that leads nowhere", false, "", false, "new", ""},
		{"a link that leads nowhere cannot be followed", true, "", false, "new", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path, there := filepath.Join(dir, "file"), filepath.Join(dir, "elsewhere", "there")
			if err := os.Mkdir(filepath.Dir(there), 0o755); err != nil {
				t.Fatal(err)
			}
			if test.target != "" {
				write(t, there, test.target)
			}
			if err := os.Symlink(there, path); err != nil {
				t.Skip("no links here:", err)
			}
			if err := atomicfile.Write(path, []byte("new"), atomicfile.Options{Mode: 0o644, Follow: test.follow}); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if isLink := info.Mode()&fs.ModeSymlink != 0; isLink != test.wantLink {
				t.Errorf("it is %v", info.Mode())
			}
			wantFile(t, path, test.wantFile)
			if test.wantThere != "" {
				wantFile(t, there, test.wantThere)
			} else if _, err := os.Lstat(there); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("what the link led to was made: %v", err)
			}
		})
	}
}

// TestConcurrent proves that readers of a file with many writers see one complete version.
func TestConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	content := func(i int) string { return strings.Repeat(fmt.Sprintf("%02d\n", i), 4096) }
	write(t, path, content(0))
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for i := range 8 {
		writers.Go(func() {
			for range 20 {
				if err := atomicfile.Write(path, []byte(content(i)), atomicfile.Options{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				data, err := os.ReadFile(path)
				if err != nil && runtime.GOOS != "windows" {
					t.Error(err)
				} else if err == nil && string(data) != strings.Repeat(string(data[:3]), 4096) {
					t.Errorf("%d bytes of several writers, or not all of one's", len(data))
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	wantAlone(t, path)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != want {
		t.Errorf("%s has %q, want %q", path, data, want)
	}
}

// wantAlone requires that a file's directory has no other files.
func wantAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("the directory has %v", entries)
	}
}
