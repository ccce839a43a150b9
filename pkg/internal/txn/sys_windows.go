package txn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// cannotRename reports whether a rename failed because of the file systems of the two paths, so that a copy may work.
func cannotRename(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// openNoFollow is 0, because Windows has no such flag and links are rare.
const openNoFollow = 0

// syncTree syncs every file below path.
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

// syncDir does nothing, because the file system journals names.
func syncDir(*os.File) error { return nil }
