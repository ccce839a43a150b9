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
func (*statter) hasEntries(dir, entries string) bool { return listEntries(dir) == entries }

// isLinkTo reports whether the entry at path is a link to target.
func (*statter) isLinkTo(path, target string) bool { return isLinkTo(path, target) }
