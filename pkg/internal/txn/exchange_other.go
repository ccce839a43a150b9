//go:build !linux

package txn

import "io/fs"

// inode returns 0: directories are not exchanged here.
func inode(fs.FileInfo) uint64 { return 0 }

func (s *scopeDir) exchangeDirs(_, _ string) bool { return false }

// renameNoReplace moves a directory to a path where nothing is.
func (s *scopeDir) renameNoReplace(from, to string) error {
	if s.exists(to) { // a rename might replace an empty directory
		return s.conflict()
	}
	return s.rename(from, to)
}
