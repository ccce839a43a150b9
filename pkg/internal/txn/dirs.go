package txn

import (
	"io/fs"
	"os"
	"path"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// maxOpenDirs is the most directories that stay open.
const maxOpenDirs = 8

// openDir is a directory that stays open, so that an operation on a name in it costs one system call, not one for each
// component of its path.
type openDir struct {
	root *os.Root
	file *os.File // the same directory, for system calls that take two of them
}

func (d *openDir) close() {
	d.root.Close()
	d.file.Close()
}

// parentOf returns the parent directory of rel and rel's name in it. The directory stays open until invalidateOpenDirs.
func (s *scopeDir) parentOf(rel string) (*openDir, string, error) {
	dir, base := path.Split(rel)
	dir = path.Clean(dir)
	if d := s.openDirs[dir]; d != nil {
		return d, base, nil
	}
	root, err := s.root.OpenRoot(dir)
	if err != nil {
		return nil, "", err
	}
	file, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, "", err
	}
	if len(s.openDirs) >= maxOpenDirs {
		s.closeDirs()
	}
	d := &openDir{root: root, file: file}
	s.openDirs[dir] = d
	return d, base, nil
}

// closeDirs closes the open directories.
func (s *scopeDir) closeDirs() {
	for name, d := range s.openDirs {
		d.close()
		delete(s.openDirs, name)
	}
}

// invalidateOpenDirs closes the open directories whose path may have changed, because a directory above them, or a link
// to them, was moved. Directories of the journal stay open.
func (s *scopeDir) invalidateOpenDirs() {
	for name, d := range s.openDirs {
		if !pathx.ContainsStrict(s.dir, name) {
			d.close()
			delete(s.openDirs, name)
		}
	}
}

// syncAbove syncs the names in all directories above the operations' paths.
func (s *scopeDir) syncAbove(ops []*op) error {
	synced := make(map[string]bool)
	for _, o := range ops {
		for rel := o.Path; rel != "." && !synced[path.Dir(rel)]; rel = path.Dir(rel) {
			synced[path.Dir(rel)] = true
			dir, _, err := s.parentOf(rel)
			if err == nil {
				err = syncDir(dir.file)
			}
			if err != nil && !isNotExist(err) {
				return err
			}
		}
	}
	return nil
}

func (s *scopeDir) remove(rel string) error {
	s.closeDirs()
	return s.root.RemoveAll(rel)
}

// rename renames a path, which may be that of an open directory.
func (s *scopeDir) rename(from, to string) error {
	s.invalidateOpenDirs()
	return s.root.Rename(from, to)
}

func (s *scopeDir) exists(rel string) bool {
	info, err := s.lstat(rel)
	return err == nil && info != nil
}

// lstat describes what is at rel, without following a link at its end. It returns nil without an error if nothing
// exists there.
func (s *scopeDir) lstat(rel string) (fs.FileInfo, error) {
	dir, base, err := s.parentOf(rel)
	if isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := dir.root.Lstat(base)
	if isNotExist(err) {
		return nil, nil
	}
	return info, err
}

func (s *scopeDir) symlink(target, rel string) error {
	dir, base, err := s.parentOf(rel)
	if err != nil {
		return err
	}
	return dir.root.Symlink(target, base)
}

func (s *scopeDir) readlink(rel string) (string, error) {
	dir, base, err := s.parentOf(rel)
	if err != nil {
		return "", err
	}
	return dir.root.Readlink(base)
}
