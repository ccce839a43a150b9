//go:build !unix

package enforce

import (
	"io/fs"

	"github.com/skillpm/skillpm/pkg/policy"
)

// stat returns an unknown owner, which CheckOwner does not trust.
func stat(path string, info fs.FileInfo) policy.Stat {
	return policy.Stat{Path: path, Mode: info.Mode(), Owner: -1}
}
