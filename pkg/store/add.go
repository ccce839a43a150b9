package store

import (
	"io/fs"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// AddTree writes the files that [bundle.Walk] visits in directory dir of fsys as a skill. Several goroutines may add
// skills with different names. After an error the Writer has a part of a skill and must be closed.
func (w *Writer) AddTree(skill string, fsys fs.FS, dir string) error {
	return bundle.Walk(fsys, dir, nil, func(f bundle.File) error {
		r, err := fsys.Open(f.Name)
		if err != nil {
			return err
		}
		defer r.Close()
		return w.WriteFile(skill, f.Path, f.Executable(), f.Info.Size(), r)
	})
}

// AddTree adds the skill in directory dir of fsys if its digest is want. Otherwise the error is a
// [bundle.MismatchError]. For many skills, use one [Writer] and its AddTree.
func (s *Store) AddTree(fsys fs.FS, dir, want string) error {
	if s.Has(want) {
		return nil
	}
	w, err := s.Writer(bundle.Limits{})
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.AddTree(dir, fsys, dir); err != nil {
		return err
	}
	_, err = w.Commit(map[string]string{dir: want})
	return err
}
