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

// cannotRename reports whether a rename failed because of the file systems of the two paths, so that a copy may work.
func cannotRename(err error) bool {
	return errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EINVAL)
}

// openNoFollow is the flag that makes an open fail for a link.
const openNoFollow = syscall.O_NOFOLLOW

// syncTree syncs every file below path to the drive. On macOS, the sync of the journal also flushes the drive's cache.
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

// syncDir syncs the names in a directory.
func syncDir(dir *os.File) error { return dir.Sync() }
