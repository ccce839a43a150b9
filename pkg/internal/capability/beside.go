package capability

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Limits on files beside a skill's own.
const (
	mostBeside      = 20_000
	mostBesideBytes = 512 << 20
)

// Besides is a file in a skill's directory that is not part of the skill.
type Besides struct {
	bundle.File
	Link string // target of a link; "" for a file
}

// Beside returns files in a skill's directory that its bundle omits, such as .git, node_modules, and *.pyc, and that a
// command, a script, or an interpreter could still use, whatever their name and their first bytes. A link that leads
// out of the skill, and too many files, are errors.
func Beside(fsys fs.FS) ([]Besides, error) {
	var found []Besides
	size := int64(0)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." || d.IsDir() || !bundle.Ignored(bundle.Normal(name), false) {
			return err
		}
		b, err := beside(fsys, name, d)
		if err != nil || b == nil {
			return err
		}
		found, size = append(found, *b), size+b.Info.Size()
		if len(found) > mostBeside || size > mostBesideBytes {
			return diag.Errorf(diag.Invalid,
				"the skill's directory has too many files that are not part of the skill: %d files, %d bytes", len(found), size).
				WithHint("remove files that are not part of the skill, such as %s", top(name))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b Besides) int { return strings.Compare(a.Path, b.Path) })
	return found, nil
}

// top returns the top-level directory of a path in a skill, or the path itself if it has none.
func top(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// beside classifies one file that a bundle omits; nil for a socket, which is not a file.
func beside(fsys fs.FS, name string, d fs.DirEntry) (*Besides, error) {
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	b := &Besides{File: bundle.File{Path: bundle.Normal(name), Name: name, Info: info}}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return b, nil
	case mode&fs.ModeSocket != 0: // a socket cannot be opened as a file
		return nil, nil
	case mode&fs.ModeSymlink != 0:
		if b.Link, err = fs.ReadLink(fsys, name); err != nil {
			return nil, err
		}
		b.Link = filepath.ToSlash(b.Link)
		if path.IsAbs(b.Link) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(name), b.Link))) {
			return nil, diag.Errorf(diag.Invalid, "the link %s points outside the skill", name).
				WithHint("remove the link")
		}
		return b, nil
	}
	return nil, diag.Errorf(diag.Invalid, "%s is neither a file nor a directory", name).WithHint("remove %s", name)
}

// exists reports whether a file exists.
func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// compiledFrom returns the script that a file in __pycache__ was compiled from, "" for other files.
func compiledFrom(name string) string {
	dir, base := path.Split(name)
	stem, _, ok := strings.Cut(base, ".cpython-")
	ext := strings.ToLower(path.Ext(name))
	if !ok || path.Base(dir) != "__pycache__" || ext != ".pyc" && ext != ".pyo" {
		return ""
	}
	return path.Join(path.Dir(path.Clean(dir)), stem+".py")
}
