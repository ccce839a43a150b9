package publish

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// moveNew renames a directory and fails if target exists.
func moveNew(staged, target string) error {
	err := unix.Renameat2(unix.AT_FDCWD, staged, unix.AT_FDCWD, target, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system does not support the flag
		return renameNew(staged, target)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: staged, New: target, Err: err}
	}
	return nil
}

// replaceOld exchanges two directories in one step and returns the path of the backup. It takes two steps if the file
// system does not support the exchange.
func replaceOld(staged, target, backup string) (backedUp string, err error) {
	if err := exchange(staged, target); err != nil {
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
			return replaceInTwo(staged, target, backup)
		}
		return "", err
	}
	if backedUp, err = moveToBackup(staged, backup); err != nil {
		return "", errors.Join(err, exchange(staged, target))
	}
	return backedUp, nil
}

func exchange(a, b string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
