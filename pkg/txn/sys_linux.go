package txn

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// cannotRename reports whether a rename failed for what the two places are, so that copying may work.
func cannotRename(err error) bool { return errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EINVAL) }

// openNoFollow has an open fail where a link is.
const openNoFollow = syscall.O_NOFOLLOW

// inode returns the number that a directory keeps when it is renamed, 0 if that is not known.
func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// exchange swaps two directories in one step, and reports whether it could. It does not try on overlayfs, where inode
// numbers, which tell whether it was done, may change.
func (s *site) exchange(a, b string) bool {
	dirA, err := s.root.Open(path.Dir(a))
	if err != nil {
		return false
	}
	defer dirA.Close()
	dirB, err := s.root.Open(path.Dir(b))
	if err != nil {
		return false
	}
	defer dirB.Close()
	var stat unix.Statfs_t
	if unix.Fstatfs(int(dirB.Fd()), &stat) != nil || stat.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return false
	}
	return unix.Renameat2(int(dirA.Fd()), path.Base(a), int(dirB.Fd()), path.Base(b), unix.RENAME_EXCHANGE) == nil
}

// syncTree forces name and all below it to the disk: with one call for any number of files, for the file system's all.
func syncTree(name string) error {
	f, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

// syncDir forces the names in a directory to the disk.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
