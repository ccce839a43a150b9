// Package atomicfile writes a file whole: whoever reads it meanwhile, or after a crash, finds what was there before or
// all of what is new, and never a part.
//
// The new file is written beside its place under a temporary name that begins with ".tmp-", and renamed. Where anything
// fails the old file is as it was, and nothing is left beside it; a process that is killed may leave the temporary
// file. A link at the place is replaced by the file, and what it led to is not touched, unless [Options.Follow] says
// otherwise. Of several that write one file at once the last one wins, whole.
package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// Options are how a file is written. The zero value writes one that only its owner can read.
type Options struct {
	Mode      fs.FileMode // the file's permissions, whatever the process's mask is; 0 is 0o600
	MkdirMode fs.FileMode // permissions of the directories above the file that are missing; 0 makes none
	Sync      bool        // the file and its name are on the disk before Write returns
	// a link at the place stays, and what it leads to is written; one that leads nowhere is replaced
	Follow bool
}

// Write writes a file whole. Its errors are [*fs.PathError] values with the path that was given.
func Write(path string, data []byte, o Options) error {
	return From(path, bytes.NewReader(data), o)
}

// From writes what a reader has. Where reading fails, its error is in the one that is returned.
func From(path string, r io.Reader, o Options) error {
	return Stream(path, o, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// Stream writes what a function writes. Where that fails nothing is written, and its error is returned.
func Stream(path string, o Options, write func(io.Writer) error) error {
	target := path
	if o.Follow {
		if real, err := pathx.ResolveExisting(path); err == nil {
			target = real
		}
	}
	if o.MkdirMode != 0 {
		if err := os.MkdirAll(filepath.Dir(target), o.MkdirMode); err != nil {
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
	_ = f.Close()           // it may be closed
	_ = os.Remove(f.Name()) // the error that counts is the first
	if isOf(err, f.Name()) {
		err = &fs.PathError{Op: "write", Path: path, Err: reason(err)}
	}
	return err
}

// finish fills a temporary file and puts it in its place.
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

// rename puts a file in another's place. Windows refuses that while somebody reads the other, so it is tried again for
// about a quarter of a second there.
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

// SyncDir forces the names of a directory to the disk. Windows journals them by itself, and some file systems cannot.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// isOf reports whether an error is that of something done to the temporary file, which nobody knows by its name.
func isOf(err error, temp string) bool {
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Old == temp
	}
	pe, ok := errors.AsType[*fs.PathError](err)
	return ok && pe.Path == temp
}

// reason returns what an error says of a file, without the file.
func reason(err error) error {
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
