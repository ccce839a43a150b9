package txn

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// expect records what is at each operation's path, which is all that the operation may take away. What a removal above
// takes away first is nothing to the operation below it.
func (s *site) expect(ops []*op) error {
	removed, gone := removals(ops), make(map[string]bool)
	for _, o := range ops {
		if o.Kind == kindFile || o.Kind != kindRemove && isBelow(o.Path, removed) {
			continue
		}
		dir := path.Dir(o.Path)
		missing, known := gone[dir]
		if !known {
			missing = !s.exists(dir)
			gone[dir] = missing
		}
		if missing {
			continue
		}
		info, err := s.lstat(o.Path)
		if err == nil {
			o.Want, err = s.sight(o.Path, info)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.abs(o.Path), err)
		}
	}
	return nil
}

// removals returns the paths of the operations that remove something.
func removals(ops []*op) map[string]bool {
	paths := make(map[string]bool)
	for _, o := range ops {
		if o.Kind == kindRemove {
			paths[o.Path] = true
		}
	}
	return paths
}

// isBelow reports whether a directory above rel is one of dirs.
func isBelow(rel string, dirs map[string]bool) bool {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if dirs[dir] {
			return true
		}
	}
	return false
}

// sight identifies what is at rel: "" for nothing, a link by its target, a file by its mode, size and time of change,
// and a directory by those of all that is in it. Other than numbers of devices and inodes that survives a restart of
// the machine, and is the same on every file system.
func (s *site) sight(rel string, info fs.FileInfo) (string, error) {
	switch {
	case info == nil:
		return "", nil
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := s.readlink(rel)
		return "link " + target, err
	case !info.IsDir():
		return "file " + describe(info), nil
	}
	list, err := appendBelow(nil, s.root, rel)
	if err != nil {
		return "", err
	}
	return "dir " + textx.SHA256(list), nil
}

// describe identifies a file among those of its name.
func describe(info fs.FileInfo) string {
	return fmt.Sprint(uint32(info.Mode()), info.Size(), info.ModTime().UnixNano())
}

// appendBelow lists what is in a directory in another. One that may not be read can be moved all the same, so that is
// no error.
func appendBelow(list []byte, dir *os.Root, name string) ([]byte, error) {
	sub, err := dir.OpenRoot(name)
	if err == nil {
		defer sub.Close()
		list, err = appendEntries(list, sub)
	}
	if errors.Is(err, fs.ErrPermission) {
		return append(list, "unreadable\n"...), nil
	}
	return list, err
}

func appendEntries(list []byte, dir *os.Root) ([]byte, error) {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		info, err := dir.Lstat(name)
		if err != nil {
			return nil, err
		}
		list = strconv.AppendQuote(list, name)
		switch {
		case info.IsDir():
			if list, err = appendBelow(append(list, " dir\n"...), dir, name); err != nil {
				return nil, err
			}
			list = append(list, "end"...)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := dir.Readlink(name)
			if err != nil {
				return nil, err
			}
			list = strconv.AppendQuote(list, target)
		default:
			list = append(list, describe(info)...)
		}
		list = append(list, '\n')
	}
	return list, nil
}

// vetAll vets operations that another process may have carried out in part, before anything is changed.
func (s *site) vetAll(ops []*op) error {
	s.shelved = s.exists(s.in(oldName))
	removed := removals(ops)
	for _, o := range ops {
		if o.Kind == kindRemove && s.isDone(o, nil) {
			delete(removed, o.Path)
		}
	}
	for _, o := range ops {
		if isBelow(o.Path, removed) { // what is there goes with the removal, which is vetted too
			continue
		}
		if err := s.vet(o); err != nil {
			return fmt.Errorf("%s: %w", s.abs(o.Path), err)
		}
	}
	return nil
}

// vet reports what is at an operation's path, would be replaced or removed, and was not there when the transaction was
// committed, nor was put there by it.
func (s *site) vet(o *op) error {
	if o.Kind == kindFile {
		return s.unchanged(o)
	}
	current, err := s.lstat(o.Path)
	if err != nil || current == nil || s.isDone(o, current) {
		return err
	}
	if partial := s.partial(o); s.isShelved(partial) { // what is left of that is in place
		return s.sameTree(o.Path, partial, false)
	}
	if !s.isShelved(s.old(o)) {
		got, err := s.sight(o.Path, current)
		if err != nil || got == o.Want {
			return err
		}
	}
	if o.Kind == kindDir && current.IsDir() { // a copy of the new one
		return s.sameTree(o.Path, s.staged(o), true)
	}
	return s.conflict()
}

// isDone reports whether an operation has nothing more to do at its path, where current is.
func (s *site) isDone(o *op, current fs.FileInfo) bool {
	switch o.Kind {
	case kindRemove:
		return o.Want == "" || s.isShelved(s.old(o))
	case kindDir:
		staged, err := s.lstat(s.staged(o))
		return err == nil && (staged == nil || o.Inode != 0 && inode(staged) != o.Inode)
	default:
		return s.isOurLink(o, current)
	}
}

// unchanged reports a file that somebody has edited since it was staged. One that is gone may be written.
func (s *site) unchanged(o *op) error {
	got, err := s.content(o.Path)
	if err != nil {
		return err
	}
	if got != "" && got != o.Before && got != textx.SHA256(o.Data) {
		return diag.Errorf(diag.Conflict, "it was changed while an installation was going on, which would replace it").
			WithHint("move it away, run the command again, and then make your change again")
	}
	return nil
}

// untouched reports something in a directory that was moved to its place which is newer than the journal: somebody uses
// the directory already.
func (s *site) untouched(o *op) error {
	journal, err := s.root.Lstat(s.in(journalName))
	if err != nil {
		return err
	}
	return fs.WalkDir(s.root.FS(), o.Path, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || name == o.Path { // its own time may be that of the move
			return err
		}
		info, err := s.root.Lstat(name)
		if err == nil && info.ModTime().After(journal.ModTime()) {
			err = s.conflict()
		}
		return err
	})
}

func (s *site) conflict() error {
	return diag.Errorf(diag.Conflict,
		"it was created or changed while an installation was going on, which would replace it").
		WithHint("move it away, and run the command again")
}

// sameTree returns a conflict if in what is at rel something is not, byte for byte, at the same place in the copy; or,
// if whole, the other way round.
func (s *site) sameTree(rel, copied string, whole bool) error {
	a, err := s.root.Lstat(rel)
	if err != nil {
		return err
	}
	b, err := s.lstat(copied)
	if err != nil {
		return err
	}
	switch {
	case b == nil || a.Mode().Type() != b.Mode().Type():
		return s.conflict()
	case a.IsDir():
		return s.sameEntries(rel, copied, whole)
	case a.Mode().IsRegular():
		return s.sameBytes(rel, copied)
	case a.Mode()&fs.ModeSymlink == 0:
		return s.conflict()
	}
	targetA, err := s.readlink(rel)
	if err != nil {
		return err
	}
	if targetB, err := s.readlink(copied); err != nil || targetA != targetB {
		return errors.Join(s.conflict(), err)
	}
	return nil
}

func (s *site) sameEntries(rel, copied string, whole bool) error {
	a, err := fs.ReadDir(s.root.FS(), rel)
	if err != nil {
		return err
	}
	if whole {
		if b, err := fs.ReadDir(s.root.FS(), copied); err != nil || len(a) != len(b) {
			return errors.Join(s.conflict(), err)
		}
	}
	for _, e := range a {
		if err := s.sameTree(path.Join(rel, e.Name()), path.Join(copied, e.Name()), whole); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) sameBytes(rel, copied string) error {
	a, err := s.root.ReadFile(rel)
	if err != nil {
		return err
	}
	if b, err := s.root.ReadFile(copied); err != nil || !bytes.Equal(a, b) {
		return errors.Join(s.conflict(), err)
	}
	return nil
}

// discardCopy removes a copy that is at an operation's path. It leaves the path in one step, so that half of it is
// never taken for somebody's own.
func (s *site) discardCopy(o *op) error {
	draft := temporary(o.Path, o)
	if err := s.remove(draft); err != nil {
		return err
	}
	if err := s.rename(o.Path, draft); err != nil && !absent(err) {
		return err
	}
	return s.remove(draft)
}
