package store

import (
	"io/fs"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// AddTree writes the skill in directory dir of fsys, as [bundle.Walk] sees it. One Writer takes any number of skills,
// each under a name of its own, from whatever number of goroutines. After an error the Writer holds half a skill: close
// it.
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

// AddTree puts the skill in directory dir of fsys into the store if it has the digest want, and else is a
// [bundle.MismatchError] and puts nothing. For many, use one [Writer] and its AddTree.
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
