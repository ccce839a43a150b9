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
func cannotRename(err error) bool { return errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EINVAL) }

// openNoFollow is the flag that makes an open fail for a link.
const openNoFollow = syscall.O_NOFOLLOW

// inode returns the inode number, which a directory keeps when it is renamed, or 0 if it is unknown.
func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// exchangeDirs swaps two directories in one step, and reports whether it did. It does not try on overlayfs, where inode
// numbers may change, because they tell recovery whether the exchange happened.
func (s *scopeDir) exchangeDirs(a, b string) bool {
	dirB, _, err := s.parentOf(b)
	if err != nil {
		return false
	}
	var stat unix.Statfs_t
	if unix.Fstatfs(int(dirB.file.Fd()), &stat) != nil || stat.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return false
	}
	exchanged := s.rename2(a, b, unix.RENAME_EXCHANGE) == nil
	s.invalidateOpenDirs()
	return exchanged
}

// renameNoReplace moves a directory, and fails with a conflict if the target exists.
func (s *scopeDir) renameNoReplace(from, to string) error {
	err := s.rename2(from, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EEXIST) {
		return s.conflict()
	}
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	if s.exists(to) { // without the flag, a rename would replace an empty directory
		return s.conflict()
	}
	return s.rename(from, to)
}

func (s *scopeDir) rename2(from, to string, flags uint) error {
	if len(s.openDirs) > maxOpenDirs-2 { // opening the second directory must not close the first
		s.closeDirs()
	}
	a, nameA, err := s.parentOf(from)
	if err != nil {
		return err
	}
	b, nameB, err := s.parentOf(to)
	if err != nil {
		return err
	}
	if err := unix.Renameat2(int(a.file.Fd()), nameA, int(b.file.Fd()), nameB, flags); err != nil {
		return &os.LinkError{Op: "rename", Old: s.abs(from), New: s.abs(to), Err: err}
	}
	return nil
}

// syncTree syncs name and all below it. One syncfs of the whole file system is faster than one fsync for each file.
func syncTree(name string) error {
	f, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

// syncDir syncs the names in a directory.
func syncDir(dir *os.File) error { return dir.Sync() }
