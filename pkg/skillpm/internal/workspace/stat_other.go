//go:build !linux && !darwin

package workspace

import (
	"os"
	"path/filepath"
	"strings"
)

// statter calls stat for entries of one directory.
type statter struct {
	dir  string
	text []byte // of the last digest, whose memory the next one uses
}

func newStatter(dir string) *statter { return &statter{dir: dir} }

func (*statter) close() {}

// stat returns the stat result of an entry, if it has the type that its name says: directories end with a slash.
func (s *statter) stat(path string) (fileStat, bool) {
	info, err := os.Lstat(filepath.Join(s.dir, filepath.FromSlash(path)))
	if err != nil || info.IsDir() != strings.HasSuffix(path, "/") {
		return fileStat{}, false
	}
	f := fileStat{mode: int64(info.Mode())}
	if !info.IsDir() {
		f.size, f.modified = info.Size(), info.ModTime().UnixNano()
	}
	return f, true
}

// hasEntries reports whether a directory has these entries and no others.
func (s *statter) hasEntries(base, entries string) bool {
	return listEntries(filepath.Join(s.dir, base)) == entries
}

// isLinkTo reports whether an entry of the statter's directory is a link to target.
func (s *statter) isLinkTo(base, target string) bool {
	return isLinkTo(filepath.Join(s.dir, base), target)
}
