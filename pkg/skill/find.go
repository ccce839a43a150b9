package skill

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// File is the name of the file that makes a directory a skill. Case matters.
const File = "SKILL.md"

// MaxFile is the maximum size of a SKILL.md, in bytes. The largest of 20,000 real ones has well under 1 MiB.
const MaxFile = 4 << 20

// SkipDir reports whether a search for skills skips directories with a name: version control, dependencies, and skills
// that skillpm installed.
func SkipDir(name string) bool {
	switch strings.ToLower(name) {
	case ".git", ".hg", ".svn", "node_modules", ".skillpm":
		return true
	}
	return false
}

// VendorRecord is the file that `skillpm vendor` writes into the directory of each copied pack.
const VendorRecord = ".skillpm-vendor.json"

// Vendored reports whether a directory with the given entries holds a copy of a pack by "skillpm vendor". Its skills
// are not the project's own.
func Vendored(dir string, entries []fs.DirEntry) bool {
	above, base := path.Split(path.Dir(path.Dir(dir)))
	parent := path.Base(above) + "/" + base
	return (parent == "vendor/skills" || parent == "third_party/skills") &&
		slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == VendorRecord })
}

// Find returns the directories at and below root that contain a SKILL.md, in bytewise order of their paths. A SKILL.md
// below a skill belongs to that skill and is not found. Find skips directories that [SkipDir] names, except root, and
// [Vendored] ones. A directory that cannot be read is an error.
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

// isSkillFile reports whether a directory entry has exactly the name SKILL.md and is not a directory. Find lists
// directories instead of opening the file, because on a case-insensitive file system skill.md would match.
func isSkillFile(e fs.DirEntry) bool { return e.Name() == File && !e.IsDir() }

// Load reads and parses the SKILL.md of a directory. The error has the code NotFound if the file does not exist, and
// Invalid if it is not a regular file or is larger than [MaxFile]. Problems in the file are in the document.
func Load(fsys fs.FS, dir string) (*Document, []Problem, error) {
	name := path.Join(dir, File)
	info, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, diag.Errorf(diag.NotFound, "%s: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would block
		return nil, nil, diag.Errorf(diag.Invalid, "%s is not a regular file", name)
	}
	if info.Size() > MaxFile {
		return nil, nil, diag.Errorf(diag.Invalid, "%s has %d bytes; the limit is %d", name, info.Size(), MaxFile)
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, nil, err
	}
	doc, problems := Parse(data)
	return doc, problems, nil
}
