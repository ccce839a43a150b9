//go:build !unix

package enforce

import (
	"io/fs"

	"github.com/skillpm/skillpm/pkg/policy"
)

// stat returns nobody for an owner, which is nobody's to trust.
func stat(path string, info fs.FileInfo) policy.Stat {
	return policy.Stat{Path: path, Mode: info.Mode(), Owner: -1}
}
