package txn

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// undo reverts an operation, so that it can be applied again.
type undo func() error

// applyAll applies operations, some of which may already be applied in part. It returns the undos of those that it
// applied, also with an error.
func (s *scopeDir) applyAll(ops []*op) (undos []undo, err error) {
	s.oldExists, s.existingDirs = s.exists(s.journalPath(oldName)), make(map[string]bool)
	kind := kindRemove
	for _, o := range ops {
		if o.Kind != kind {
			s.invalidateOpenDirs()
			kind = o.Kind
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

func (s *scopeDir) apply(o *op) (undo, error) {
	switch o.Kind {
	case kindRemove:
		return s.applyRemove(o)
	case kindDir:
		return s.applyDir(o)
	case kindLink:
		return s.applyLink(o)
	default:
		return s.applyFile(o)
	}
}

func (s *scopeDir) makeOldDir() error {
	if s.oldExists {
		return nil
	}
	s.oldExists = true
	return s.mkdir(oldName)
}

// applyRemove moves what is at the operation's path to old. It does nothing if an earlier attempt did that.
func (s *scopeDir) applyRemove(o *op) (undo, error) {
	if err := s.checkConflict(o); err != nil {
		return nil, err
	}
	if s.isInOld(s.partialPath(o)) {
		return nil, s.finishCopyToOld(o)
	}
	info, err := s.lstat(o.Path)
	if err != nil || info == nil || s.isInOld(s.oldPath(o)) || o.Expected == "" {
		return nil, err
	}
	if err := s.makeOldDir(); err != nil {
		return nil, err
	}
	revert := func() error { return s.restoreOld(o) }
	err = s.rename(o.Path, s.oldPath(o))
	if !cannotRename(err) {
		return revert, err
	}
	err = s.copyOver(o.Path, s.partialPath(o), o)
	if err == nil {
		err = s.fail("copied away " + o.Path)
	}
	if err != nil {
		return revert, err
	}
	return revert, s.finishCopyToOld(o)
}

// finishCopyToOld completes applyRemove after a copy. The name in old appears only after the path is removed.
func (s *scopeDir) finishCopyToOld(o *op) error {
	if err := s.checkConflict(o); err != nil {
		return err
	}
	if err := s.remove(o.Path); err != nil {
		return err
	}
	return s.rename(s.partialPath(o), s.oldPath(o))
}

// restoreOld moves back what applyRemove moved to old.
func (s *scopeDir) restoreOld(o *op) error {
	old := s.partialPath(o)
	if !s.isInOld(old) {
		old = s.oldPath(o)
	}
	if !s.isInOld(old) {
		return nil
	}
	if err := s.clearOwn(o, old); err != nil {
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

// clearOwn removes what the transaction itself left at an operation's path: its link, or a tree that was copied to old.
func (s *scopeDir) clearOwn(o *op, old string) error {
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

// applyDir moves the staged directory to its path. The disk shows how far an earlier attempt came:
//
//	stage does not exist        the operation is done
//	stage has another inode     the directories were exchanged; stage has the old one
//	stage and old exist         the path may have a copy of the staged directory; it is made again
//	only stage exists           nothing is done, or the path may have a copy
func (s *scopeDir) applyDir(o *op) (undo, error) {
	staged, err := s.lstat(s.stagePath(o))
	if err != nil || staged == nil {
		return nil, err
	}
	if o.Inode != 0 && inode(staged) != o.Inode {
		return nil, s.moveExchangedToOld(o)
	}
	removeParents, err := s.parents(o.Path)
	if err != nil {
		return removeParents, err
	}
	revert := func() error { return undoThen(s.undoDir(o), removeParents) }
	current, err := s.lstat(o.Path)
	if err == nil && current != nil {
		err = s.checkConflict(o)
	}
	if err != nil {
		return removeParents, err
	}
	if isDir(current) && o.Inode != 0 && !s.isInOld(s.oldPath(o)) && s.exchangeDirs(s.stagePath(o), o.Path) {
		if err := s.fail("exchanged " + o.Path); err != nil {
			return revert, err
		}
		return revert, s.moveExchangedToOld(o)
	}
	switch {
	case current != nil && s.isStagedCopy(o, current):
		err = s.removeCopy(o)
	case current != nil || s.isInOld(s.partialPath(o)):
		_, err = s.applyRemove(o)
	}
	if err == nil {
		err = s.fail("moved away " + o.Path)
	}
	if err != nil {
		return revert, err
	}
	return revert, s.moveStaged(o)
}

// isStagedCopy reports whether current, which passed checkConflict, is a copy of the staged directory and not the
// directory that it replaces.
func (s *scopeDir) isStagedCopy(o *op, current fs.FileInfo) bool {
	if s.isInOld(s.partialPath(o)) {
		return false
	}
	if s.isInOld(s.oldPath(o)) {
		return true
	}
	actual, err := s.fingerprint(o.Path, current)
	return err == nil && actual != o.Expected
}

// moveExchangedToOld moves the old directory, which an exchange put into stage, to old.
func (s *scopeDir) moveExchangedToOld(o *op) error {
	if err := s.makeOldDir(); err != nil {
		return err
	}
	return s.rename(s.stagePath(o), s.oldPath(o))
}

// undoDir reverts applyDir, after whichever step it stopped.
func (s *scopeDir) undoDir(o *op) error {
	staged, err := s.lstat(s.stagePath(o))
	switch {
	case err != nil:
		return err
	case staged != nil && o.Inode != 0 && inode(staged) != o.Inode: // exchanged, but not moved to old yet
		if !s.exchangeDirs(s.stagePath(o), o.Path) {
			return fmt.Errorf("cannot undo the exchange of %s and %s", s.stagePath(o), o.Path)
		}
		return nil
	case staged == nil && s.exists(s.copiedPath(o)): // copied
		if s.exists(o.Path) {
			err = s.sameTree(o.Path, s.copiedPath(o), true)
		}
		if err != nil {
			return err
		}
		if err = s.rename(s.copiedPath(o), s.stagePath(o)); err == nil {
			err = s.removeCopy(o)
		}
	case staged == nil:
		if err = s.checkUnmodified(o); err == nil {
			err = s.rename(o.Path, s.stagePath(o))
		}
	}
	if err != nil {
		return err
	}
	return s.restoreOld(o)
}

// applyFile writes a file next to its path, syncs it, and renames it. It keeps the permissions of a file that it
// replaces.
func (s *scopeDir) applyFile(o *op) (undo, error) {
	removeParents, err := s.parents(o.Path)
	if err != nil {
		return removeParents, err
	}
	info, err := s.lstat(o.Path)
	if err != nil {
		return removeParents, err
	}
	if err := s.checkFile(o); err != nil {
		return removeParents, err
	}
	if info == nil {
		revert := func() error { return undoThen(s.undoFile(o, nil, nil), removeParents) }
		if err := s.replace(o, o.Data, nil); err != nil {
			return removeParents, err
		}
		return revert, nil
	}
	before, err := s.root.ReadFile(o.Path)
	if err != nil || bytes.Equal(before, o.Data) {
		return nil, err
	}
	if err := s.replace(o, o.Data, info); err != nil {
		return nil, err
	}
	return func() error { return s.undoFile(o, before, info) }, nil
}

// undoFile restores the content of a file, or removes the file if old is nil. A file that was changed meanwhile is a
// conflict.
func (s *scopeDir) undoFile(o *op, before []byte, old fs.FileInfo) error {
	digest, err := s.digestOf(o.Path)
	if err == nil && digest != "" && digest != textx.SHA256(o.Data) {
		err = s.conflict()
	}
	if err != nil {
		return err
	}
	if old != nil {
		return s.replace(o, before, old)
	}
	if err := s.root.Remove(o.Path); !isNotExist(err) {
		return err
	}
	return nil
}

func (s *scopeDir) replace(o *op, data []byte, old fs.FileInfo) error {
	draft := draftPath(o.Path, o)
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

// parents creates the directories above rel, and returns an undo that removes the new ones. It runs after all removals,
// so directories that exist now will stay.
func (s *scopeDir) parents(rel string) (undo, error) {
	var missing []string
	for dir := path.Dir(rel); dir != "." && !s.existingDirs[dir]; dir = path.Dir(dir) {
		s.existingDirs[dir] = true
		if s.exists(dir) {
			break
		}
		missing = append(missing, dir)
	}
	if len(missing) == 0 {
		return nil, nil
	}
	revert := func() error {
		for _, dir := range missing {
			s.invalidateOpenDirs()
			if err := s.root.Remove(dir); err == nil || isNotExist(err) {
				continue
			} else if entries, readErr := fs.ReadDir(s.root.FS(), dir); readErr != nil || len(entries) == 0 {
				return err
			}
			return nil // it has other files
		}
		return nil
	}
	return revert, s.root.MkdirAll(missing[0], 0o755)
}

func undoThen(err error, next undo) error {
	if err != nil || next == nil {
		return err
	}
	return next()
}
