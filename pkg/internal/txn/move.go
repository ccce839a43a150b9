package txn

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
)

// moveStaged moves the staged directory to its path. If the system cannot rename it (another file system, or a lower
// layer of overlayfs), moveStaged copies it and renames the staged directory away in one step: recovery would take a
// half-removed staged directory for the new one.
func (s *scopeDir) moveStaged(o *op) error {
	err := s.renameNoReplace(s.stagePath(o), o.Path)
	if !cannotRename(err) {
		return err
	}
	if s.exists(o.Path) {
		return s.conflict()
	}
	if err := s.copyOver(s.stagePath(o), o.Path, o); err != nil {
		return err
	}
	err = s.fail("copied " + o.Path)
	if err == nil {
		err = s.mkdir(copiedName)
	}
	if err == nil {
		err = s.rename(s.stagePath(o), s.copiedPath(o))
	}
	if err != nil {
		return errors.Join(err, s.removeCopy(o))
	}
	return nil
}

// copyOver copies from to a draft next to to, and renames the draft.
func (s *scopeDir) copyOver(from, to string, o *op) error {
	draft := draftPath(to, o)
	if err := s.remove(draft); err != nil {
		return err
	}
	if err := s.copyAny(from, draft); err != nil {
		return errors.Join(err, s.remove(draft))
	}
	if err := syncTree(s.abs(draft)); err != nil {
		return err
	}
	return s.rename(draft, to)
}

func (s *scopeDir) copyAny(from, to string) error {
	info, err := s.root.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := s.root.Readlink(from)
		if err != nil {
			return err
		}
		return s.root.Symlink(target, to)
	case !info.IsDir():
		return s.copyFile(from, to, info)
	}
	if err := s.root.Mkdir(to, info.Mode().Perm()|0o700); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.copyAny(path.Join(from, e.Name()), path.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file with the attributes of its fingerprint: permissions and modification time.
func (s *scopeDir) copyFile(from, to string, info fs.FileInfo) error {
	in, err := s.root.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := s.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close(), s.root.Chmod(to, info.Mode().Perm())); err != nil {
		return err
	}
	return s.root.Chtimes(to, info.ModTime(), info.ModTime())
}
