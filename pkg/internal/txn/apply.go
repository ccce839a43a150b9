package txn

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// undo takes an operation back. It restores the state from which the operation can be applied again.
type undo func() error

// applyAll carries out operations that may have been carried out in part before. It returns how to take back those that
// it did, also with an error.
func (s *site) applyAll(ops []*op) (undos []undo, err error) {
	s.shelved, s.present = s.exists(s.in(oldName)), make(map[string]bool)
	last := kindRemove
	for _, o := range ops {
		if o.Kind != last {
			s.moved()
			last = o.Kind
		}
		u, err := s.apply(o)
		if u != nil {
			undos = append(undos, u)
		}
		if err == nil {
			err = s.fail("applied " + o.Path)
		}
		if err != nil {
			return undos, fmt.Errorf("%s: %w", s.abs(o.Path), err)
		}
	}
	return undos, nil
}

func (s *site) apply(o *op) (undo, error) {
	switch o.Kind {
	case kindRemove:
		return s.takeAway(o)
	case kindDir:
		return s.placeDir(o)
	case kindLink:
		return s.placeLink(o)
	default:
		return s.placeFile(o)
	}
}

func (s *site) mkdirOld() error {
	if s.shelved {
		return nil
	}
	s.shelved = true
	return s.mkdir(oldName)
}

// takeAway moves what is at the operation's path to old. That old is there means that this was done.
func (s *site) takeAway(o *op) (undo, error) {
	if err := s.vet(o); err != nil {
		return nil, err
	}
	if s.isShelved(s.partial(o)) {
		return nil, s.shelve(o)
	}
	info, err := s.lstat(o.Path)
	if err != nil || info == nil || s.isShelved(s.old(o)) || o.Want == "" {
		return nil, err
	}
	if err := s.mkdirOld(); err != nil {
		return nil, err
	}
	back := func() error { return s.putBack(o) }
	err = s.rename(o.Path, s.old(o))
	if !cannotRename(err) {
		return back, err
	}
	err = s.copyOver(o.Path, s.partial(o), o)
	if err == nil {
		err = s.fail("copied away " + o.Path)
	}
	if err != nil {
		return back, err
	}
	return back, s.shelve(o)
}

// shelve completes takeAway where it has to copy: old appears only when nothing is left in place.
func (s *site) shelve(o *op) error {
	if err := s.vet(o); err != nil {
		return err
	}
	if err := s.remove(o.Path); err != nil {
		return err
	}
	return s.rename(s.partial(o), s.old(o))
}

// putBack moves what was taken away to its place again.
func (s *site) putBack(o *op) error {
	old := s.partial(o)
	if !s.isShelved(old) {
		old = s.old(o)
	}
	if !s.isShelved(old) {
		return nil
	}
	if err := s.clear(o, old); err != nil {
		return err
	}
	err := s.rename(old, o.Path)
	if !cannotRename(err) {
		return err
	}
	if err := s.copyOver(old, o.Path, o); err != nil {
		return err
	}
	return s.remove(old)
}

// clear removes what the transaction itself has left at an operation's path: its link, or what old has a copy of.
func (s *site) clear(o *op, old string) error {
	current, err := s.lstat(o.Path)
	if err != nil || current == nil {
		return err
	}
	if !s.isOurLink(o, current) {
		if err := s.sameTree(o.Path, old, false); err != nil {
			return err
		}
	}
	return s.remove(o.Path)
}

// placeDir puts the staged directory in place. What it finds says how far it came before:
//
//	stage is gone                         all is done
//	stage is not the directory it was     the two were exchanged, and the old one must go
//	stage and old are there               a copy of the new one may be in place; it is made again
//	stage is there                        nothing is done, or as above
func (s *site) placeDir(o *op) (undo, error) {
	staged, err := s.lstat(s.staged(o))
	if err != nil || staged == nil {
		return nil, err
	}
	if o.Inode != 0 && inode(staged) != o.Inode {
		return nil, s.retire(o)
	}
	made, err := s.parents(o.Path)
	if err != nil {
		return made, err
	}
	back := func() error { return joinUndo(s.backDir(o), made) }
	current, err := s.lstat(o.Path)
	if err == nil && current != nil {
		err = s.vet(o)
	}
	if err != nil {
		return made, err
	}
	if isDir(current) && o.Inode != 0 && !s.isShelved(s.old(o)) && s.exchange(s.staged(o), o.Path) {
		if err := s.fail("exchanged " + o.Path); err != nil {
			return back, err
		}
		return back, s.retire(o)
	}
	switch {
	case current != nil && s.isCopy(o, current):
		err = s.discardCopy(o)
	case current != nil || s.isShelved(s.partial(o)):
		_, err = s.takeAway(o)
	}
	if err == nil {
		err = s.fail("moved away " + o.Path)
	}
	if err != nil {
		return back, err
	}
	return back, s.bring(o)
}

// isCopy reports whether current, which was vetted, is a copy of the staged directory and not what it replaces.
func (s *site) isCopy(o *op, current fs.FileInfo) bool {
	if s.isShelved(s.partial(o)) {
		return false
	}
	if s.isShelved(s.old(o)) {
		return true
	}
	got, err := s.sight(o.Path, current)
	return err == nil && got != o.Want
}

// retire moves the old directory, which an exchange has left in stage, to old.
func (s *site) retire(o *op) error {
	if err := s.mkdirOld(); err != nil {
		return err
	}
	return s.rename(s.staged(o), s.old(o))
}

// backDir takes placeDir back, wherever it stopped.
func (s *site) backDir(o *op) error {
	staged, err := s.lstat(s.staged(o))
	switch {
	case err != nil:
		return err
	case staged != nil && o.Inode != 0 && inode(staged) != o.Inode: // exchanged, not yet retired
		if !s.exchange(s.staged(o), o.Path) {
			return fmt.Errorf("%s and %s can't be exchanged back", s.staged(o), o.Path)
		}
		return nil
	case staged == nil && s.exists(s.used(o)): // copied
		if s.exists(o.Path) {
			err = s.sameTree(o.Path, s.used(o), true)
		}
		if err != nil {
			return err
		}
		if err = s.rename(s.used(o), s.staged(o)); err == nil {
			err = s.discardCopy(o)
		}
	case staged == nil:
		if err = s.untouched(o); err == nil {
			err = s.rename(o.Path, s.staged(o))
		}
	}
	if err != nil {
		return err
	}
	return s.putBack(o)
}

// placeFile writes a file beside its place, forces it to the disk and renames it. A file that is replaced hands its
// permissions on.
func (s *site) placeFile(o *op) (undo, error) {
	made, err := s.parents(o.Path)
	if err != nil {
		return made, err
	}
	info, err := s.lstat(o.Path)
	if err != nil {
		return made, err
	}
	if err := s.unchanged(o); err != nil {
		return made, err
	}
	if info == nil {
		back := func() error { return joinUndo(s.unwrite(o, nil, nil), made) }
		if err := s.replace(o, o.Data, nil); err != nil {
			return made, err
		}
		return back, nil
	}
	before, err := s.root.ReadFile(o.Path)
	if err != nil || bytes.Equal(before, o.Data) {
		return nil, err
	}
	if err := s.replace(o, o.Data, info); err != nil {
		return nil, err
	}
	return func() error { return s.unwrite(o, before, info) }, nil
}

// unwrite gives a file the content again that it had, unless somebody has changed it meanwhile. Without old there was
// none.
func (s *site) unwrite(o *op, before []byte, old fs.FileInfo) error {
	got, err := s.content(o.Path)
	if err == nil && got != "" && got != textx.SHA256(o.Data) {
		err = s.conflict()
	}
	if err != nil {
		return err
	}
	if old != nil {
		return s.replace(o, before, old)
	}
	if err := s.root.Remove(o.Path); !absent(err) {
		return err
	}
	return nil
}

func (s *site) replace(o *op, data []byte, old fs.FileInfo) error {
	draft := temporary(o.Path, o)
	if err := s.remove(draft); err != nil {
		return err
	}
	mode := o.Mode
	if old != nil {
		mode = old.Mode().Perm()
	}
	err := s.create(draft, data, mode)
	if err == nil && old != nil {
		err = s.root.Chmod(draft, mode)
	}
	if err == nil {
		err = s.fail("wrote " + o.Path)
	}
	if err == nil {
		err = s.root.Rename(draft, o.Path)
	}
	if err != nil {
		_ = s.remove(draft)
	}
	return err
}

// parents makes the directories above rel, and returns how to remove those that were not there. It is called after all
// that is to be removed is gone: what it finds stays.
func (s *site) parents(rel string) (undo, error) {
	var missing []string
	for dir := path.Dir(rel); dir != "." && !s.present[dir]; dir = path.Dir(dir) {
		s.present[dir] = true
		if s.exists(dir) {
			break
		}
		missing = append(missing, dir)
	}
	if len(missing) == 0 {
		return nil, nil
	}
	back := func() error {
		for _, dir := range missing {
			s.moved()
			if err := s.root.Remove(dir); err == nil || absent(err) {
				continue
			} else if entries, readErr := fs.ReadDir(s.root.FS(), dir); readErr != nil || len(entries) == 0 {
				return err
			}
			return nil // somebody else uses it by now
		}
		return nil
	}
	return back, s.root.MkdirAll(missing[0], 0o755)
}

func joinUndo(err error, next undo) error {
	if err != nil || next == nil {
		return err
	}
	return next()
}
