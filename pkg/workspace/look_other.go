//go:build !linux && !darwin

package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// statter asks for entries of one directory.
type statter struct {
	dir  string
	text []byte
}

func newStatter(dir string) *statter { return &statter{dir: dir} }

func (*statter) close() {}

// stat returns the facts of an entry of the directory base, if it is what its name says: a directory, or none.
func (s *statter) stat(base, name string) (facts, bool) {
	info, err := os.Lstat(filepath.Join(s.dir, base, filepath.FromSlash(name)))
	if err != nil || info.IsDir() != strings.HasSuffix(name, "/") {
		return facts{}, false
	}
	f := facts{mode: int64(info.Mode())}
	if !info.IsDir() {
		f.size, f.modified = info.Size(), info.ModTime().UnixNano()
	}
	return f, true
}

// listed reports whether a directory has these entries and no others.
func (*statter) listed(dir string, entries []string) bool {
	return slices.Equal(entriesOf(dir), entries)
}

// leads reports whether the entry at path is a link to target.
func (*statter) leads(path, target string) bool { return leads(path, target) }
