//go:build unix

package enforce

import (
	"io/fs"
	"syscall"

	"github.com/skillpm/skillpm/pkg/policy"
)

// stat returns the owner of a file and whether others may write it.
func stat(path string, info fs.FileInfo) policy.Stat {
	s := policy.Stat{Path: path, Mode: info.Mode(), Owner: -1}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Owner = int(sys.Uid)
	}
	return s
}
