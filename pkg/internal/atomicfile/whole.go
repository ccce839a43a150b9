// Package atomicfile replaces files atomically: a reader, also after a process was killed, sees either the old or the
// new content, never a part. After a power loss, that holds only with [Options.Sync]: set it for all but caches.
//
// It writes a temporary file in the same directory, whose name starts with ".tmp-", and renames it. After an error the
// old file is unchanged, and the temporary file is removed; a killed process may leave it. A link is replaced, and its
// target stays unchanged, unless [Options.Follow] is set. If several processes write one file, the last one wins.
package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// Options configure a write. The zero value creates a file that only its owner can read.
type Options struct {
	Mode      fs.FileMode // the file's permissions, regardless of the umask; 0 means 0o600
	MkdirMode fs.FileMode // permissions of missing parent directories; 0 creates none
	Sync      bool        // sync the file and its name to disk before returning
	// replace the target of a link instead of the link; a dangling link is replaced
	Follow bool
}

// Write replaces a file with data. Its errors are [*fs.PathError] values with the given path.
func Write(path string, data []byte, o Options) error {
	return From(path, bytes.NewReader(data), o)
}

// From writes the content of a reader. If reading fails, the returned error wraps that error.
func From(path string, r io.Reader, o Options) error {
	return Stream(path, o, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// Stream writes the output of a function. If the function fails, the file stays unchanged and its error is returned.
func Stream(path string, o Options, write func(io.Writer) error) error {
	target := path
	if o.Follow {
		if real, err := pathx.ResolveExisting(path); err == nil {
			target = real
		}
	}
	if o.MkdirMode != 0 {
		if err := MkdirAll(filepath.Dir(target), o.MkdirMode, o.Sync); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".tmp-")
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: reason(err)}
	}
	err = finish(f, target, o, write)
	if err == nil {
		return nil
	}
	_ = f.Close()           // already closed on success
	_ = os.Remove(f.Name()) // the first error counts
	if isOf(err, f.Name()) {
		err = &fs.PathError{Op: "write", Path: path, Err: reason(err)}
	}
	return err
}

// finish writes a temporary file and renames it.
func finish(f *os.File, target string, o Options, write func(io.Writer) error) error {
	if err := write(f); err != nil {
		return err
	}
	if o.Mode != 0 {
		if err := f.Chmod(o.Mode.Perm()); err != nil {
			return err
		}
	}
	if o.Sync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := rename(f.Name(), target); err != nil {
		return err
	}
	if o.Sync {
		return SyncDir(filepath.Dir(target))
	}
	return nil
}

// rename replaces a file by another one. Windows refuses that while a process reads the file, so it retries for about a
// quarter of a second.
func rename(src, dst string) error {
	err := os.Rename(src, dst)
	for wait := time.Millisecond; err != nil && runtime.GOOS == "windows" && wait <= 128*time.Millisecond; wait *= 2 {
		if info, statErr := os.Lstat(dst); statErr != nil || !info.Mode().IsRegular() {
			break
		}
		time.Sleep(wait)
		err = os.Rename(src, dst)
	}
	return err
}

// MkdirAll creates a directory and missing ones above it. With sync, it also syncs the names of new directories.
func MkdirAll(dir string, mode fs.FileMode, sync bool) error {
	var above []string // the directories that get a new name
	for d := dir; sync && d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil {
			break
		}
		above = append(above, filepath.Dir(d))
	}
	err := os.MkdirAll(dir, mode)
	for _, d := range above {
		if err == nil {
			err = SyncDir(d)
		}
	}
	return err
}

// SyncDir syncs a directory's entries to disk. Windows journals them automatically, and some file systems cannot sync.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// isOf reports whether an error names the temporary file, which users do not know.
func isOf(err error, temp string) bool {
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Old == temp
	}
	pe, ok := errors.AsType[*fs.PathError](err)
	return ok && pe.Path == temp
}

// reason returns the cause of an error, without the file's name.
func reason(err error) error {
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
