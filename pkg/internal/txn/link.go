package txn

import (
	"errors"
	"io/fs"
	"runtime"
)

// applyLink creates a link. It replaces an existing link in one step if the system supports that.
func (s *scopeDir) applyLink(o *op) (undo, error) {
	current, err := s.lstat(o.Path)
	if err != nil || s.isOurLink(o, current) {
		return nil, err
	}
	removeParents, err := s.parents(o.Path)
	if err != nil {
		return removeParents, err
	}
	if current == nil && !s.isInOld(s.partialPath(o)) {
		revert := func() error { return undoThen(s.undoLink(o), removeParents) }
		if err := s.symlink(o.Target, o.Path); err != nil {
			return removeParents, s.existsAsConflict(err)
		}
		return revert, nil
	}
	if err := s.checkConflict(o); err != nil {
		return removeParents, err
	}
	if current == nil || current.Mode()&fs.ModeSymlink == 0 || runtime.GOOS == "windows" {
		revert, err := s.applyRemove(o)
		if err == nil {
			err = s.existsAsConflict(s.symlink(o.Target, o.Path))
		}
		return revert, err
	}
	return s.relink(o)
}

// relink replaces a link by one rename. The undo restores the old target.
func (s *scopeDir) relink(o *op) (undo, error) {
	before, err := s.readlink(o.Path)
	if err != nil {
		return nil, err
	}
	revert := func() error {
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
	return revert, nil
}

func (s *scopeDir) swapLink(o *op, target string) error {
	draft := draftPath(o.Path, o)
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

// undoLink removes the link that the operation created.
func (s *scopeDir) undoLink(o *op) error {
	current, err := s.lstat(o.Path)
	if err != nil || current == nil {
		return err
	}
	if !s.isOurLink(o, current) {
		return s.conflict()
	}
	return s.root.Remove(o.Path)
}

// existsAsConflict converts the error that a path exists to a conflict.
func (s *scopeDir) existsAsConflict(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return s.conflict()
	}
	return err
}

// isOurLink reports whether current is the link that the operation creates.
func (s *scopeDir) isOurLink(o *op, current fs.FileInfo) bool {
	if o.Kind != kindLink || current == nil || current.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	target, err := s.readlink(o.Path)
	return err == nil && target == o.Target
}
