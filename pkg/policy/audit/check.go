package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Check returns why the next record could not be written, without writing one. If the log does not exist yet, it checks
// the directory.
func (l *Log) Check() error {
	if l == nil {
		return nil
	}
	path := l.file()
	for _, file := range []string{path, path + ".lock"} {
		info, err := os.Lstat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = checkCreatable(filepath.Dir(file))
		case err == nil && file != path && !info.Mode().IsRegular():
			err = &fs.PathError{Op: "open", Path: file, Err: errors.New("not a regular file")}
		case err == nil && file == path:
			var f *os.File
			if f, err = openRegular(file); err == nil {
				err = f.Close()
			}
		case err == nil:
			var f *os.File
			if f, err = os.OpenFile(file, os.O_RDWR, 0); err == nil {
				err = f.Close()
			}
		}
		if err != nil {
			return l.explain(err)
		}
	}
	return nil
}

// checkCreatable returns why no file can be created in a directory, or in its nearest existing parent.
func checkCreatable(dir string) error {
	for {
		f, err := os.CreateTemp(dir, ".skillpm-*")
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
			continue
		}
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
}
