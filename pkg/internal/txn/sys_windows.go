package txn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// cannotRename reports whether a rename failed for what the two places are, so that copying may work.
func cannotRename(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// openNoFollow is nothing: there is no such flag, and links are rare.
const openNoFollow = 0

// syncTree forces every file below path to the disk.
func syncTree(path string) error {
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// syncDir does nothing: names are journalled by the file system.
func syncDir(string) error { return nil }
