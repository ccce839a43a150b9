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

// recordExpected records the fingerprint of what is at each operation's path. An operation may replace or remove only
// that. It records nothing for an operation below a removal.
func (s *scopeDir) recordExpected(ops []*op) error {
	removed, missingDirs := removals(ops), make(map[string]bool)
	for _, o := range ops {
		if o.Kind == kindFile || o.Kind != kindRemove && isBelow(o.Path, removed) {
			continue
		}
		dir := path.Dir(o.Path)
		missing, cached := missingDirs[dir]
		if !cached {
			missing = !s.exists(dir)
			missingDirs[dir] = missing
		}
		if missing {
			continue
		}
		info, err := s.lstat(o.Path)
		if err == nil {
			o.Expected, err = s.fingerprint(o.Path, info)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.abs(o.Path), err)
		}
	}
	return nil
}

// removals returns the paths that the operations remove.
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

// fingerprint identifies what is at rel: "" for nothing, a link by its target, a file by its mode, size, and
// modification time, and a directory by the fingerprints of all its content. Unlike device and inode numbers, a
// fingerprint survives a restart and is the same on every file system.
func (s *scopeDir) fingerprint(rel string, info fs.FileInfo) (string, error) {
	switch {
	case info == nil:
		return "", nil
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := s.readlink(rel)
		return "link " + target, err
	case !info.IsDir():
		return "file " + fileFingerprint(info), nil
	}
	list, err := appendBelow(nil, s.root, rel)
	if err != nil {
		return "", err
	}
	return "dir " + textx.SHA256(list), nil
}

// fileFingerprint identifies a version of a file.
func fileFingerprint(info fs.FileInfo) string {
	return fmt.Sprint(uint32(info.Mode()), info.Size(), info.ModTime().UnixNano())
}

// appendBelow appends the content of the subdirectory name of dir to list. An unreadable directory is not an error,
// because it can still be moved.
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
			list = append(list, fileFingerprint(info)...)
		}
		list = append(list, '\n')
	}
	return list, nil
}

// checkConflicts checks all operations of an interrupted transaction before recovery changes anything.
func (s *scopeDir) checkConflicts(ops []*op) error {
	s.oldExists = s.exists(s.journalPath(oldName))
	removed := removals(ops)
	for _, o := range ops {
		if o.Kind == kindRemove && s.isDone(o, nil) {
			delete(removed, o.Path)
		}
	}
	for _, o := range ops {
		if isBelow(o.Path, removed) { // the check of the removal covers it
			continue
		}
		if err := s.checkConflict(o); err != nil {
			return fmt.Errorf("%s: %w", s.abs(o.Path), err)
		}
	}
	return nil
}

// checkConflict returns an error if an operation would replace or remove something that appeared after the commit and
// that the transaction did not create.
func (s *scopeDir) checkConflict(o *op) error {
	if o.Kind == kindFile {
		return s.checkFile(o)
	}
	current, err := s.lstat(o.Path)
	if err != nil || current == nil || s.isDone(o, current) {
		return err
	}
	if partial := s.partialPath(o); s.isInOld(partial) { // the path may still have a part of it
		return s.sameTree(o.Path, partial, false)
	}
	if !s.isInOld(s.oldPath(o)) {
		actual, err := s.fingerprint(o.Path, current)
		if err != nil || actual == o.Expected {
			return err
		}
	}
	if o.Kind == kindDir && current.IsDir() { // current may be a copy of the staged directory
		return s.sameTree(o.Path, s.stagePath(o), true)
	}
	return s.conflict()
}

// isDone reports whether an operation is complete. current is what is at its path.
func (s *scopeDir) isDone(o *op, current fs.FileInfo) bool {
	switch o.Kind {
	case kindRemove:
		return o.Expected == "" || s.isInOld(s.oldPath(o))
	case kindDir:
		staged, err := s.lstat(s.stagePath(o))
		return err == nil && (staged == nil || o.Inode != 0 && inode(staged) != o.Inode)
	default:
		return s.isOurLink(o, current)
	}
}

// checkFile returns an error if a file was edited after it was staged. A file that was removed may be written.
func (s *scopeDir) checkFile(o *op) error {
	digest, err := s.digestOf(o.Path)
	if err != nil {
		return err
	}
	if digest != "" && digest != o.Before && digest != textx.SHA256(o.Data) {
		return diag.Errorf(diag.Conflict,
			"another program changed the file during an installation that would replace it").
			WithHint("move the file away, run the command again, then make your change again")
	}
	return nil
}

// checkUnmodified returns an error if anything in a directory that was moved into place is newer than the journal,
// because it is in use already.
func (s *scopeDir) checkUnmodified(o *op) error {
	journal, err := s.root.Lstat(s.journalPath(journalName))
	if err != nil {
		return err
	}
	return fs.WalkDir(s.root.FS(), o.Path, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || name == o.Path { // the move may have changed the directory's own time
			return err
		}
		info, err := s.root.Lstat(name)
		if err == nil && info.ModTime().After(journal.ModTime()) {
			err = s.conflict()
		}
		return err
	})
}

func (s *scopeDir) conflict() error {
	return diag.Errorf(diag.Conflict,
		"another program created or changed the path during an installation that would replace it").
		WithHint("move the file or directory away, then run the command again")
}

// sameTree returns a conflict if something in the tree at rel is not, byte for byte, in the tree at copied. With exact,
// it also does so for the reverse.
func (s *scopeDir) sameTree(rel, copied string, exact bool) error {
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
		return s.sameEntries(rel, copied, exact)
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

func (s *scopeDir) sameEntries(rel, copied string, exact bool) error {
	a, err := fs.ReadDir(s.root.FS(), rel)
	if err != nil {
		return err
	}
	if exact {
		if b, err := fs.ReadDir(s.root.FS(), copied); err != nil || len(a) != len(b) {
			return errors.Join(s.conflict(), err)
		}
	}
	for _, e := range a {
		if err := s.sameTree(path.Join(rel, e.Name()), path.Join(copied, e.Name()), exact); err != nil {
			return err
		}
	}
	return nil
}

func (s *scopeDir) sameBytes(rel, copied string) error {
	a, err := s.root.ReadFile(rel)
	if err != nil {
		return err
	}
	if b, err := s.root.ReadFile(copied); err != nil || !bytes.Equal(a, b) {
		return errors.Join(s.conflict(), err)
	}
	return nil
}

// removeCopy removes a copy from an operation's path. It first renames the copy, so that a half-removed copy is never
// taken for a user's file.
func (s *scopeDir) removeCopy(o *op) error {
	draft := draftPath(o.Path, o)
	if err := s.remove(draft); err != nil {
		return err
	}
	if err := s.rename(o.Path, draft); err != nil && !isNotExist(err) {
		return err
	}
	return s.remove(draft)
}
