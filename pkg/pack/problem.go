package pack

import "github.com/skillpm/skillpm/pkg/internal/yamlx"

// Problem is one thing that is wrong with a file: its Line and Column, a Message, and a Hint how to fix it.
type Problem = yamlx.Problem

// maxFile is the size in bytes beyond which a manifest or a configuration is refused; locks may be larger.
const (
	maxFile = 1 << 20
	maxLock = 64 << 20
)

// CheckManifest reads a manifest as [ParseManifest] does, and goes on where that stops: it returns everything that is
// wrong, in order of the places, and what the rest of the file says. The manifest is nil only where nothing can be
// read.
func CheckManifest(path string, data []byte) (*Manifest, []Problem) {
	m, r := readManifest(path, data)
	return m, r.Problems()
}

// CheckLock reads a lock as [ParseLock] does, and returns everything that is wrong with it; see [CheckManifest].
func CheckLock(path string, data []byte) (*Lock, []Problem) {
	l, r := readLock(path, data)
	return l, r.Problems()
}

// CheckConfig reads a configuration as [ParseConfig] does, and returns everything that is wrong with it; see
// [CheckManifest].
func CheckConfig(path string, data []byte) (*Config, []Problem) {
	c, r := readConfig(path, data)
	return c, r.Problems()
}
