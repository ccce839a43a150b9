package lint

import (
	"io/fs"
	"strings"

	"github.com/skillpm/skillpm/pkg/skill"
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

// packText is the text of a pack's skills. It is read when it is first asked for, which only packs with dependencies
// need.
type packText struct {
	l      *linter
	skills []*unit
	files  [][]byte
}

// read reads the files of a skill; what cannot be read says nothing.
func (t *packText) read(dir string) {
	_ = fs.WalkDir(t.l.fsys, dir, func(name string, e fs.DirEntry, err error) error { // it returns no other error
		switch {
		case err != nil || e.IsDir() && name != dir && skill.SkipDir(e.Name()):
			return fs.SkipDir
		case e.Type().IsRegular():
			if data, err := readHead(t.l.fsys, name, maxText); err == nil {
				t.files = append(t.files, data)
			}
		}
		return nil
	})
}

// says reports whether a file of the skills holds a word.
func (t *packText) says(word string) bool {
	if t.files == nil {
		t.files = [][]byte{}
		for _, u := range t.skills {
			t.read(u.dir)
		}
	}
	for _, data := range t.files {
		if findWord(data, word, func(next byte) bool {
			return !wordByte(next) ||
				strings.ContainsRune("@/", rune(next))
		}) {
			return true
		}
	}
	return false
}
