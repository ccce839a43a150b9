// Package safefile reads files that others may have put where they are: those of a cloned repository, of a directory
// that a manifest names, of a .git above the directory that skillpm runs in.
//
// Only regular files are opened. Opening a pipe would wait for ever, and a device has no end. What something is, is
// asked before it is opened and once more afterwards. No file is read that is larger than its reader expects, and none
// further than it was long when it was opened.
package safefile

import (
	"bytes"
	"io"
	"io/fs"
	"os"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Open opens a regular file of at most limit bytes. A link is followed. Anything else is an error with the code
// [diag.Invalid]; that there is nothing is one that is [fs.ErrNotExist].
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

// ReadFile reads a file that [Open] opens.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := Open(name, limit)
	if err != nil {
		return nil, err
	}
	return whole(f, name, limit)
}

// OpenIn opens what ReadIn reads.
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

// ReadIn reads a file of a file system, with the errors of [Open]. Whether links are followed, and how far, is the file
// system's business, which should be a [Dir] where it is a directory of somebody else's.
func ReadIn(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	return whole(f, name, limit)
}

// Check returns an error with the code [diag.Invalid] for what is no regular file of at most limit bytes.
func Check(name string, info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return diag.Errorf(diag.Invalid, "%s is not a regular file", name)
	}
	if info.Size() > limit {
		return diag.Errorf(diag.Invalid, "%s is larger than %d bytes", name, limit)
	}
	return nil
}

// opened looks again at a file that is open, and closes it if it is not what it was.
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

// whole reads a file to the end that it has now, and closes it.
func whole(f fs.File, name string, limit int64) ([]byte, error) {
	info, err := opened(f, name, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.LimitReader(f, info.Size())); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
