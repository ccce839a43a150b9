//go:build !linux

package txn

import "io/fs"

// inode returns 0, because directories are not exchanged on this system.
func inode(fs.FileInfo) uint64 { return 0 }

func (s *scopeDir) exchangeDirs(_, _ string) bool { return false }

// renameNoReplace moves a directory to a path at which nothing exists.
func (s *scopeDir) renameNoReplace(from, to string) error {
	if s.exists(to) { // a rename might replace an empty directory
		return s.conflict()
	}
	return s.rename(from, to)
}
