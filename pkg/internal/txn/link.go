package txn

import (
	"errors"
	"io/fs"
	"runtime"
)

// placeLink makes a link, by one rename where something is there that can be renamed over.
func (s *site) placeLink(o *op) (undo, error) {
	current, err := s.lstat(o.Path)
	if err != nil || s.isOurLink(o, current) {
		return nil, err
	}
	made, err := s.parents(o.Path)
	if err != nil {
		return made, err
	}
	if current == nil && !s.isShelved(s.partial(o)) {
		back := func() error { return joinUndo(s.unlink(o), made) }
		if err := s.symlink(o.Target, o.Path); err != nil {
			return made, s.raced(err)
		}
		return back, nil
	}
	if err := s.vet(o); err != nil {
		return made, err
	}
	if current == nil || current.Mode()&fs.ModeSymlink == 0 || runtime.GOOS == "windows" {
		back, err := s.takeAway(o)
		if err == nil {
			err = s.raced(s.symlink(o.Target, o.Path))
		}
		return back, err
	}
	return s.relink(o)
}

// relink replaces a link by one rename. The undo remembers where the old one led to.
func (s *site) relink(o *op) (undo, error) {
	before, err := s.readlink(o.Path)
	if err != nil {
		return nil, err
	}
	back := func() error {
		current, err := s.lstat(o.Path)
		if err != nil {
			return err
		}
		if current != nil && !s.isOurLink(o, current) {
			return s.conflict()
		}
		return s.swapLink(o, before)
	}
	if err := s.swapLink(o, o.Target); err != nil {
		return nil, err
	}
	return back, nil
}

func (s *site) swapLink(o *op, target string) error {
	draft := temporary(o.Path, o)
	if err := s.remove(draft); err != nil {
		return err
	}
	if err := s.symlink(target, draft); err != nil {
		return err
	}
	if err := s.root.Rename(draft, o.Path); err != nil {
		return errors.Join(err, s.remove(draft))
	}
	return nil
}

// unlink removes the link that the operation made.
func (s *site) unlink(o *op) error {
	current, err := s.lstat(o.Path)
	if err != nil || current == nil {
		return err
	}
	if !s.isOurLink(o, current) {
		return s.conflict()
	}
	return s.root.Remove(o.Path)
}

// raced makes a conflict of the error that something appeared just now.
func (s *site) raced(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return s.conflict()
	}
	return err
}

// isOurLink reports whether current is the link that the operation makes.
func (s *site) isOurLink(o *op, current fs.FileInfo) bool {
	if o.Kind != kindLink || current == nil || current.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	target, err := s.readlink(o.Path)
	return err == nil && target == o.Target
}
