package pack

import (
	"io/fs"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Bounds of what is walked for skills and for their files. A git tree of a few objects can stand for more paths than
// can ever be listed. The largest repositories of source code have some hundred thousand entries.
const (
	maxEntries = 1_000_000 // of the directories that are listed, each time that one is
	maxDepth   = 64        // directories in each other
	maxSkills  = 10_000    // of a pack, each time that a pattern finds one
	maxSkipped = 1_000     // sentences about what was left out
)

// bounded is a file system that may be listed only so far.
type bounded struct {
	fs.FS
	listed *int // entries so far
}

func newBounded(fsys fs.FS) fs.FS { return bounded{fsys, new(int)} }

// ReadDir lists a directory unless that is too much.
func (b bounded) ReadDir(name string) ([]fs.DirEntry, error) {
	if depth(name) > maxDepth {
		return nil, tooMuch("directories lie more than %d deep in each other", maxDepth)
	}
	entries, err := fs.ReadDir(b.FS, name)
	if *b.listed += len(entries) + 1; *b.listed > maxEntries {
		return nil, tooMuch("there are more than %d files and directories to look through", maxEntries)
	}
	return entries, err
}

// Stat describes a file as the file system below does.
func (b bounded) Stat(name string) (fs.FileInfo, error) { return fs.Stat(b.FS, name) }

// Lstat describes a file or link as the file system below does.
func (b bounded) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(b.FS, name) }

// ReadLink reads a link as the file system below does.
func (b bounded) ReadLink(name string) (string, error) { return fs.ReadLink(b.FS, name) }

// checkFound bounds the skills of a pack.
func checkFound(dirs []string) error {
	if len(dirs) > maxSkills {
		return tooMuch("there are more than %d directories with a %s", maxSkills, skill.File)
	}
	return nil
}

func tooMuch(format string, args ...any) error {
	return diag.Errorf(diag.Invalid, format, args...).
		WithHint("name a directory of fewer, as in URL//skills, or list the skills' directories under skills in %s", ManifestName)
}
