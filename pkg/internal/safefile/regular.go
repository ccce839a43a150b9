// Package safefile reads files that others may have created: files of a cloned repository, of a directory that a
// manifest names, or of a .git directory above the current one.
//
// It opens only regular files, because opening a pipe would block and a device has no end. It checks the type before
// and after it opens a file. It limits the size of a file, and never reads beyond the size that the file had when it
// was opened.
package safefile

import (
	"bytes"
	"io"
	"io/fs"
	"os"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Open opens a regular file of at most limit bytes. It follows links. Other files are errors with the code
// [diag.Invalid]; a missing file is an [fs.ErrNotExist].
func Open(name string, limit int64) (*os.File, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if err := Check(name, info, limit); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if _, err := opened(f, name, limit); err != nil {
		return nil, err
	}
	return f, nil
}

// ReadFile reads a file like [Open].
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := Open(name, limit)
	if err != nil {
		return nil, err
	}
	return whole(f, name, limit)
}

// OpenIn opens a file like [ReadIn].
func OpenIn(fsys fs.FS, name string, limit int64) (fs.File, error) {
	f, err := openIn(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	if _, err := opened(f, name, limit); err != nil {
		return nil, err
	}
	return f, nil
}

func openIn(fsys fs.FS, name string, limit int64) (fs.File, error) {
	if r, ok := fsys.(interface {
		openRegular(name string, limit int64) (fs.File, error)
	}); ok {
		return r.openRegular(name, limit)
	}
	if info, err := fs.Stat(fsys, name); err != nil {
		return nil, err
	} else if err := Check(name, info, limit); err != nil {
		return nil, err
	}
	return fsys.Open(name)
}

// ReadIn reads a file of a file system, with the errors of [Open]. The file system decides whether links are followed;
// use a [Dir] for a directory of others.
func ReadIn(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	return whole(f, name, limit)
}

// Check returns an error with the code [diag.Invalid] unless a file is regular and has at most limit bytes.
func Check(name string, info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return diag.Errorf(diag.Invalid, "%s is not a regular file", name)
	}
	if info.Size() > limit {
		return diag.Errorf(diag.Invalid, "%s has %d bytes; the limit is %d", name, info.Size(), limit)
	}
	return nil
}

// opened checks an open file again, and closes it if it is not the file that was checked before.
func opened(f fs.File, name string, limit int64) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err == nil {
		err = Check(name, info, limit)
	}
	if err != nil {
		_ = f.Close()
	}
	return info, err
}

// whole reads a file up to its current size, and closes it.
func whole(f fs.File, name string, limit int64) ([]byte, error) {
	info, err := opened(f, name, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.LimitReader(f, info.Size())); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
