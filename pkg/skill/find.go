package skill

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// File is the name of the file that makes a directory a skill, in this exact case.
const File = "SKILL.md"

// MaxFile is the size in bytes beyond which a SKILL.md is refused unread. The largest of 20,000 real ones is well
// under 1 MiB.
const MaxFile = 4 << 20

// SkipDir reports whether a search for skills passes over directories of that name: version control, other people's
// dependencies, and what skillpm itself has installed.
func SkipDir(name string) bool {
	switch strings.ToLower(name) {
	case ".git", ".hg", ".svn", "node_modules", ".skillpm":
		return true
	}
	return false
}

// VendorRecord is the file that `skillpm vendor` leaves in the directory of every pack that it copies.
const VendorRecord = ".skillpm-vendor.json"

// Vendored reports whether a directory with those entries is where skillpm vendor keeps a copy of a pack: somebody
// else's skills, as those that are installed. A directory elsewhere is not, whatever is in it.
func Vendored(dir string, entries []fs.DirEntry) bool {
	above, base := path.Split(path.Dir(path.Dir(dir)))
	parent := path.Base(above) + "/" + base
	return (parent == "vendor/skills" || parent == "third_party/skills") &&
		slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == VendorRecord })
}

// Find returns the directories below root, and root itself, that hold a SKILL.md, in bytewise order of their paths. A
// SKILL.md below a skill belongs to that skill and is not found. Directories that [SkipDir] names are passed over,
// unless root is one, and those that are [Vendored]. The error is that of reading root; a directory below that cannot
// be read is an error too.
func Find(fsys fs.FS, root string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, root)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(entries, isSkillFile) {
		return []string{root}, nil
	}
	var found []string
	if Vendored(root, entries) {
		return nil, nil
	}
	for _, e := range entries {
		if !e.IsDir() || SkipDir(e.Name()) {
			continue
		}
		below, err := Find(fsys, path.Join(root, e.Name()))
		if err != nil {
			return nil, err
		}
		found = append(found, below...)
	}
	slices.Sort(found)
	return found, nil
}

// isSkillFile reports whether a directory entry has the exact name SKILL.md and is not a directory. Directories are
// listed instead of asked for the file, because a file system that ignores case would say yes to skill.md.
func isSkillFile(e fs.DirEntry) bool { return e.Name() == File && !e.IsDir() }

// Load reads and parses the SKILL.md of a directory. The error has code NotFound when there is none, and Invalid when
// it is no regular file or larger than [MaxFile]; what is wrong inside the file is in the problems.
func Load(fsys fs.FS, dir string) (*Document, []Problem, error) {
	name := path.Join(dir, File)
	info, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, diag.Errorf(diag.NotFound, "%s: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return nil, nil, diag.Errorf(diag.Invalid, "%s is not a regular file", name)
	}
	if info.Size() > MaxFile {
		return nil, nil, diag.Errorf(diag.Invalid, "%s has %d bytes, more than %d", name, info.Size(), MaxFile)
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, nil, err
	}
	doc, problems := Parse(data)
	return doc, problems, nil
}
