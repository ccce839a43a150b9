package vendored

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/store"
)

// dirs are the directories of a project that may hold its copy, in order of preference. The second is for Go modules,
// whose tools use the directory vendor.
var dirs = [...]string{"vendor/skills", "third_party/skills"}

// Copy is the copy of skills in a project's repository. It is safe for concurrent use.
type Copy struct {
	root string // of the project, an absolute path
	dir  string // one of dirs
	os   string

	once sync.Once
	fsys fs.FS // of dir
	err  error

	mu      sync.Mutex
	records map[pack.ID]*record
}

// Open returns the copy of the project at root. If there is none, its directory is the one that suits the project. goos
// is as runtime.GOOS. Nothing is read yet.
func Open(root, goos string) *Copy {
	c := newCopy(root, dirs[0], goos)
	for _, dir := range dirs {
		if candidate := newCopy(root, dir, goos); candidate.Exists() {
			return candidate
		}
	}
	if _, err := os.Lstat(filepath.Join(root, "go.mod")); err == nil {
		c.dir = dirs[1]
	}
	return c
}

func newCopy(root, dir, goos string) *Copy {
	return &Copy{root: root, dir: dir, os: goos, records: map[pack.ID]*record{}}
}

// Dir is the directory of the copy: a slash-separated path below the project's root.
func (c *Copy) Dir() string { return c.dir }

// Exists reports whether skillpm wrote a copy.
func (c *Copy) Exists() bool {
	data, err := c.read(readmeName)
	return err == nil && hasMark(data)
}

// Has reports whether the copy has a directory for the pack.
func (c *Copy) Has(id pack.ID) bool {
	return c.checkDirs(id.String()) == nil
}

// checkDirs returns an error unless a path of the copy and all its parents are directories, not links.
func (c *Copy) checkDirs(name string) error {
	dir := path.Join(c.dir, name)
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(c.root, filepath.FromSlash(dir[:i])))
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return diag.Errorf(diag.Denied, "%s is not a directory", dir[:i]).
				WithHint("vendored skills must not contain links; recreate the skills with: skillpm vendor")
		}
	}
	return nil
}

// tree returns the copy as a file system, with the bytes and modes that the repository has.
func (c *Copy) tree() (fs.FS, error) {
	c.once.Do(func() {
		client := source.Directories(c.root, c.os)
		c.fsys, c.err = client.Tree(pack.Ref{
			Kind: pack.KindPath, URL: filepath.Join(c.root, filepath.FromSlash(c.dir)),
		})
	})
	return c.fsys, c.err
}

// sum returns the inventory of a skill in the copy. The error is fs.ErrNotExist if the copy does not have it.
func (c *Copy) sum(id pack.ID, skill string) (bundle.Inventory, error) {
	dir := path.Join(id.String(), skill)
	if err := c.checkDirs(dir); err != nil {
		return nil, err
	}
	fsys, err := c.tree()
	if err != nil {
		return nil, err
	}
	return bundle.Sum(fsys, dir)
}

// record returns the record of a pack, empty if it is missing or unreadable.
func (c *Copy) record(id pack.ID) *record {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.records[id]; ok {
		return known
	}
	known := &record{}
	if data, err := c.read(path.Join(id.String(), recordName)); err == nil {
		known = parseRecord(data, id)
	}
	c.records[id] = known
	return known
}

// maxRecord is the maximum size of a record.
const maxRecord = 64 << 20

// read returns a file of the copy with the bytes that the repository has. It follows no link.
func (c *Copy) read(name string) ([]byte, error) {
	if err := c.checkDirs(path.Dir(name)); err != nil {
		return nil, err
	}
	info, err := os.Lstat(filepath.Join(c.root, filepath.FromSlash(path.Join(c.dir, name))))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return nil, diag.Errorf(diag.Denied, "%s is not a file that skillpm created", path.Join(c.dir, name)).
			WithHint("move the file away, then run \"skillpm vendor\"")
	}
	fsys, err := c.tree()
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(fsys, name)
}

// DamagedError reports that the copy does not match the lockfile.
type DamagedError struct {
	Path   string // below the project's root
	What   string // what is wrong with it
	Edited bool   // it has local edits, which only force replaces
}

// Error names the file.
func (e *DamagedError) Error() string { return e.Path + " " + e.What }

// Code is Integrity.
func (e *DamagedError) Code() diag.Code { return diag.Integrity }

// Hint names the command that writes the copy again.
func (e *DamagedError) Hint() string {
	return "restore the copy from skillpm.lock with: " + e.Command()
}

// Command is the command that writes the copy again.
func (e *DamagedError) Command() string {
	if e.Edited {
		return "skillpm vendor --force"
	}
	return "skillpm vendor"
}

// AddToStore adds skills of a pack to the store, if the copy has all of them with the digests that are given by name.
// Otherwise the error is a [DamagedError], and the store does not change.
func (c *Copy) AddToStore(s *store.Store, id pack.ID, digests map[string]string) error {
	w, err := s.Writer(bundle.DefaultLimits())
	if err != nil {
		return err
	}
	defer w.Close()
	for _, skill := range slices.Sorted(maps.Keys(digests)) {
		if err := c.stream(w, id, skill); err != nil {
			return c.readError(id, skill, digests[skill], err)
		}
	}
	_, err = w.Commit(digests)
	if diag.CodeOf(err) != diag.Integrity && diag.CodeOf(err) != diag.NotFound {
		return err
	}
	for _, skill := range slices.Sorted(maps.Keys(digests)) {
		if err := c.check(id, skill, digests[skill]); err != nil {
			return err
		}
	}
	return err
}

// stream writes the files of a skill to a sink.
func (c *Copy) stream(w bundle.Sink, id pack.ID, skill string) error {
	dir := path.Join(id.String(), skill)
	if err := c.checkDirs(dir); err != nil {
		return err
	}
	fsys, err := c.tree()
	if err != nil {
		return err
	}
	return bundle.Walk(fsys, dir, nil, func(f bundle.File) error {
		r, err := fsys.Open(f.Name)
		if err != nil {
			return err
		}
		defer r.Close()
		info, err := r.Stat()
		if err != nil {
			return err
		}
		return w.WriteFile(skill, f.Path, f.Executable(), info.Size(), r)
	})
}

// check compares a skill of the copy with a digest.
func (c *Copy) check(id pack.ID, skill, digest string) error {
	got, err := c.sum(id, skill)
	if err != nil {
		return c.readError(id, skill, digest, err)
	}
	if got.Digest() == digest {
		return nil
	}
	dir := path.Join(c.dir, id.String(), skill)
	known := c.record(id)
	want, ok := known.inventory(skill)
	if tree := known.Skills[skill].Tree; !ok || tree != digest {
		if ok && tree == got.Digest() {
			return &DamagedError{Path: dir, What: fmt.Sprintf(
				"is a copy of %s %s, but skillpm.lock requires different content",
				id, known.Version)}
		}
		return &DamagedError{Path: dir, What: "differs from skillpm.lock", Edited: !known.isUnedited(skill, got)}
	}
	name, what := difference(want, got)
	return &DamagedError{Path: path.Join(dir, name), What: what, Edited: !known.isUnedited(skill, got)}
}

// readError returns the error for a skill of the copy that can't be read.
func (c *Copy) readError(id pack.ID, skill, digest string, err error) error {
	dir := path.Join(c.dir, id.String(), skill)
	var entryErr *bundle.EntryError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if want, ok := c.record(id).inventory(skill); ok && want.Digest() == digest {
			return &DamagedError{Path: dir, What: "is missing from the copy"}
		}
		return &DamagedError{Path: dir, What: "is missing"}
	case errors.As(err, &entryErr):
		return &DamagedError{Path: dir, What: "contains an invalid entry: " + entryErr.Error(), Edited: true}
	}
	return &DamagedError{Path: dir, What: "is unreadable: " + err.Error(), Edited: true}
}
