package author

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// replaceInTwo moves an old directory away and a new one to its place, and the old one back if that fails.
func replaceInTwo(staged, target, backup string) error {
	if err := os.MkdirAll(filepath.Dir(backup), 0o755); err != nil {
		return err
	}
	if err := os.Rename(target, backup); err != nil {
		return err
	}
	if err := os.Rename(staged, target); err != nil {
		return errors.Join(err, os.Rename(backup, target))
	}
	return syncDirectory(filepath.Dir(backup))
}

// syncDirectory forces the names of a directory to the disk. Windows journals them by itself, and some file systems cannot.
func syncDirectory(dir string) error {
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

// errReadOnly is the error of a file system that cannot be written to.
func errReadOnly() error { return syscall.EROFS }
