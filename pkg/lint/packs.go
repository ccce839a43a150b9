package lint

import (
	"path"
	"strings"
)

// packFile is a file that describes packs and that was met while looking for skills.
type packFile struct {
	kind packKind
	name string
}

// checkPackFiles checks the files that describe packs, beside the skills that were checked.
func (l *linter) checkPackFiles(units []*unit) []*packDoc {
	return l.packDocs(l.packFiles, func(dir string) func(word string) bool {
		var own []*unit
		for _, u := range units {
			if u.home == dir {
				own = append(own, u)
			}
		}
		if len(own) == 0 {
			return nil
		}
		return (&packText{l: l, skills: own}).says
	})
}

// packText is the text of a pack's skills. It is read when it is first asked for, which only packs with dependencies need.
type packText struct {
	l      *linter
	skills []*unit
	files  [][]byte
}

// says reports whether a file of the skills holds a word.
func (t *packText) says(word string) bool {
	if t.files == nil {
		t.files = [][]byte{}
		for _, u := range t.skills {
			for _, rel := range u.texts {
				if data, err := readHead(t.l.fsys, path.Join(u.dir, rel), maxText); err == nil {
					t.files = append(t.files, data)
				}
			}
		}
	}
	for _, data := range t.files {
		if findWord(data, word, func(next byte) bool { return !wordByte(next) || strings.ContainsRune("@/", rune(next)) }) {
			return true
		}
	}
	return false
}
