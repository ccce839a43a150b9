//go:build !linux && !windows

package txn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// cannotRename reports whether a rename failed for what the two places are, so that copying may work.
func cannotRename(err error) bool {
	return errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EINVAL)
}

// openNoFollow has an open fail where a link is.
const openNoFollow = syscall.O_NOFOLLOW

// syncTree hands every file below path to the disk. On macOS the disk itself is flushed with the journal.
func syncTree(path string) error {
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() && !d.IsDir() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(unix.Fsync(int(f.Fd())), f.Close())
	})
}

// syncDir forces the names in a directory to the disk.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
