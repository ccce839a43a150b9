//go:build !linux && !darwin

package workspace

import (
	"os"
	"path/filepath"
	"strings"
)

// statter asks for entries of one directory.
type statter struct{ dir string }

func newStatter(dir string) *statter { return &statter{dir: dir} }

func (*statter) close() {}

// stat returns the facts of an entry, if it is what its name says: a directory, which ends with a slash, or none.
func (s *statter) stat(path string) (facts, bool) {
	info, err := os.Lstat(filepath.Join(s.dir, filepath.FromSlash(path)))
	if err != nil || info.IsDir() != strings.HasSuffix(path, "/") {
		return facts{}, false
	}
	f := facts{mode: int64(info.Mode())}
	if !info.IsDir() {
		f.size, f.modified = info.Size(), info.ModTime().UnixNano()
	}
	return f, true
}

// listed reports whether a directory has these entries and no others.
func (*statter) listed(dir, entries string) bool { return entriesOf(dir) == entries }

// leads reports whether the entry at path is a link to target.
func (*statter) leads(path, target string) bool { return leads(path, target) }
