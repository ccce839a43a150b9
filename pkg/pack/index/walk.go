package index

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
)

// File is a pack's file in the directory of an index.
type File struct {
	ID   pack.ID
	Path string // slash-separated, below the index
}

// Files returns the files of packs in an index, sorted by pack, and the paths of other files below packs, which no
// client reads.
func Files(fsys fs.FS) (files []File, others []string, err error) {
	err = fs.WalkDir(fsys, "packs", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == "packs":
			return fs.SkipAll // an index without packs
		case err != nil || d.IsDir():
			return err
		}
		dir, file := path.Split(name)
		id, idErr := pack.ParseID(path.Base(dir) + "/" + strings.TrimSuffix(file, ".ndjson"))
		if idErr != nil || Path(id) != name || !d.Type().IsRegular() {
			others = append(others, name)
			return nil
		}
		files = append(files, File{ID: id, Path: name})
		return nil
	})
	slices.SortFunc(files, func(a, b File) int { return a.ID.Compare(b.ID) })
	return files, others, err
}

// ReadEntry reads the file of a pack.
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
		return nil, diag.Errorf(diag.Invalid, "%s contains versions of another pack, %s", f.Path, entry.ID)
	}
	return entry, nil
}

// ReadAll reads files of packs in parallel, and yields their entries in order. It ends after the first error.
func ReadAll(fsys fs.FS, files []File) iter.Seq2[*Entry, error] {
	const chunkSize = 256
	return func(yield func(*Entry, error) bool) {
		for chunk := range slices.Chunk(files, chunkSize) {
			entries := make([]*Entry, len(chunk))
			var group bug.Group
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

// Catalog yields the catalog of the packs of an index in order of names. It ends after the first error.
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

// UntilError yields the values before the first error, which it stores in err.
func UntilError[T any](seq iter.Seq2[T, error], err *error) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v, seqErr := range seq {
			if seqErr != nil {
				*err = seqErr
				return
			}
			if !yield(v) {
				return
			}
		}
	}
}
