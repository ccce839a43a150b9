package txn

import (
	"io/fs"
	"os"
	"path"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// mostOpen is how many directories are kept open.
const mostOpen = 8

// openDir is a directory that is kept open: a thousand names in it cost one system call each, and not one for each
// component of each path.
type openDir struct {
	root *os.Root
	file *os.File // the same, for system calls that take two directories
}

func (d *openDir) close() {
	d.root.Close()
	d.file.Close()
}

// at returns the directory that rel is in, and rel's name there. A directory stays open until something may have taken
// its place, see moved.
func (s *site) at(rel string) (*openDir, string, error) {
	dir, base := path.Split(rel)
	dir = path.Clean(dir)
	if d := s.open[dir]; d != nil {
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
	if len(s.open) >= mostOpen {
		s.closeDirs()
	}
	d := &openDir{root: root, file: file}
	s.open[dir] = d
	return d, base, nil
}

// closeDirs forgets the directories that are kept open.
func (s *site) closeDirs() {
	for name, d := range s.open {
		d.close()
		delete(s.open, name)
	}
}

// moved is called when a directory that was there may have left its place, so that an open one below it, or one that
// was reached through a link, is not the one any more that its path names. What is the journal's stays in its place.
func (s *site) moved() {
	for name, d := range s.open {
		if !pathx.ContainsStrict(s.dir, name) {
			d.close()
			delete(s.open, name)
		}
	}
}

func (s *site) remove(rel string) error {
	s.closeDirs()
	return s.root.RemoveAll(rel)
}

// rename renames what may be a directory that others are in.
func (s *site) rename(from, to string) error {
	s.moved()
	return s.root.Rename(from, to)
}

func (s *site) exists(rel string) bool {
	info, err := s.lstat(rel)
	return err == nil && info != nil
}

// lstat returns nil without an error for what is not there.
func (s *site) lstat(rel string) (fs.FileInfo, error) {
	dir, base, err := s.at(rel)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := dir.root.Lstat(base)
	if absent(err) {
		return nil, nil
	}
	return info, err
}

func (s *site) symlink(target, rel string) error {
	dir, base, err := s.at(rel)
	if err != nil {
		return err
	}
	return dir.root.Symlink(target, base)
}

func (s *site) readlink(rel string) (string, error) {
	dir, base, err := s.at(rel)
	if err != nil {
		return "", err
	}
	return dir.root.Readlink(base)
}
