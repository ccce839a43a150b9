package lint

import (
	"io/fs"
	"path"
)

// packFile is a file that describes packs and that was met while looking for skills.
type packFile struct {
	kind packKind
	name string
}

// filesOfPacks returns the files of a directory that describe packs.
func filesOfPacks(dir string, entries []fs.DirEntry) []packFile {
	var out []packFile
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if kind, ok := packFileKind(name); ok && e.Type().IsRegular() {
			out = append(out, packFile{kind, name})
		}
	}
	return out
}

// checkPackFiles checks the files that describe packs.
func (l *linter) checkPackFiles([]*unit) []*collector { return nil }
