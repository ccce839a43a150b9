package index

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
)

// File is a pack's file in the directory of an index.
type File struct {
	ID   pack.ID
	Path string // slash-separated, below the index
}

// Files returns the packs' files of an index, sorted by pack, and whatever else is below packs, which no reader looks
// at.
func Files(fsys fs.FS) (files []File, strays []string, err error) {
	err = fs.WalkDir(fsys, "packs", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == "packs":
			return fs.SkipAll // an index without packs
		case err != nil || d.IsDir():
			return err
		}
		dir, file := path.Split(name)
		id, bad := pack.ParseID(path.Base(dir) + "/" + strings.TrimSuffix(file, ".ndjson"))
		if bad != nil || Path(id) != name || !d.Type().IsRegular() {
			strays = append(strays, name)
			return nil
		}
		files = append(files, File{ID: id, Path: name})
		return nil
	})
	slices.SortFunc(files, func(a, b File) int { return a.ID.Compare(b.ID) })
	return files, strays, err
}

// ReadEntry reads one pack's file of an index.
func ReadEntry(fsys fs.FS, f File) (*Entry, error) {
	data, err := safefile.ReadIn(fsys, f.Path, MaxBytes)
	if err != nil {
		return nil, err
	}
	entry, err := Parse(f.Path, data)
	if err != nil {
		return nil, err
	}
	if entry.ID != f.ID {
		return nil, diag.Errorf(diag.Invalid, "%s is about %s", f.Path, entry.ID)
	}
	return entry, nil
}

// ReadAll reads packs' files, several at a time, and yields them in their order. It ends with the first error.
func ReadAll(fsys fs.FS, files []File) iter.Seq2[*Entry, error] {
	const atOnce = 256
	return func(yield func(*Entry, error) bool) {
		for chunk := range slices.Chunk(files, atOnce) {
			entries := make([]*Entry, len(chunk))
			var group errgroup.Group
			group.SetLimit(runtime.GOMAXPROCS(0))
			for i, f := range chunk {
				group.Go(func() (err error) {
					entries[i], err = ReadEntry(fsys, f)
					return err
				})
			}
			if err := group.Wait(); err != nil {
				yield(nil, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Catalog makes the catalogue of the packs in a directory, in order of their names. It ends with the first error.
func Catalog(fsys fs.FS) iter.Seq2[CatalogEntry, error] {
	return func(yield func(CatalogEntry, error) bool) {
		files, _, err := Files(fsys)
		if err != nil {
			yield(CatalogEntry{}, err)
			return
		}
		for entry, err := range ReadAll(fsys, files) {
			if err != nil {
				yield(CatalogEntry{}, err)
				return
			}
			if c, ok := entry.Catalog(); ok && !yield(c, nil) {
				return
			}
		}
	}
}

// Upto yields the values before the first error, which it puts in err.
func Upto[T any](seq iter.Seq2[T, error], err *error) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v, wrong := range seq {
			if wrong != nil {
				*err = wrong
				return
			}
			if !yield(v) {
				return
			}
		}
	}
}
