package author

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// placeNew moves a directory to a place where nothing is.
func placeNew(staged, target string) error {
	err := unix.Renameat2(unix.AT_FDCWD, staged, unix.AT_FDCWD, target, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system does not know the flag
		return os.Rename(staged, target) // which replaces an empty directory at most
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: staged, New: target, Err: err}
	}
	return nil
}

// replaceOld exchanges two directories in one step, and keeps the old one. Where the file system cannot, it is two steps.
func replaceOld(staged, target, backup string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, staged, unix.AT_FDCWD, target, unix.RENAME_EXCHANGE); err != nil {
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
			return replaceInTwo(staged, target, backup)
		}
		return &os.LinkError{Op: "rename", Old: staged, New: target, Err: err}
	}
	err := os.MkdirAll(filepath.Dir(backup), 0o755)
	if err == nil {
		err = os.Rename(staged, backup)
	}
	if err == nil {
		return syncDirectory(filepath.Dir(backup))
	}
	return errors.Join(err, unix.Renameat2(unix.AT_FDCWD, staged, unix.AT_FDCWD, target, unix.RENAME_EXCHANGE))
}
