package packsearch

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/bm25"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Cache is a directory of indexes, one for each registry. It may be emptied at any time, and several processes may use
// it at once.
type Cache struct {
	Dir string
}

const suffix = ".search"

// Open opens the index of a registry that has a name and, as it is now, a tag. It is an error that is [fs.ErrNotExist]
// if that is not indexed, and one with the code [diag.Invalid] if the index is damaged.
func (c Cache) Open(name, tag string) (*Index, error) {
	f, err := os.Open(c.path(name, tag))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var x *bm25.Index
		if x, err = bm25.Read(schema(), f, info.Size()); err == nil {
			return &Index{Index: x, closer: f}, nil
		}
	}
	f.Close()
	return nil, err
}

// Build indexes the packs of a registry and opens the index. It replaces what the cache has of the name so far.
func (c Cache) Build(name, tag string, packs iter.Seq2[Pack, error]) (*Index, error) {
	path := c.path(name, tag)
	err := atomicfile.Stream(path, atomicfile.Options{MkdirMode: 0o755}, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		if err := build(b, packs); err != nil {
			return err
		}
		return b.Flush()
	})
	if err != nil {
		return nil, err
	}
	c.tidy(path)
	return c.Open(name, tag)
}

// build writes an index. It parses packs ahead in another goroutine, since parsing takes as long as indexing; the
// goroutine has ended when build returns.
func build(w io.Writer, packs iter.Seq2[Pack, error]) error {
	type item struct {
		doc bm25.Document
		err error
	}
	read, stop := make(chan item, 1024), make(chan struct{})
	bug.Go(func() {
		defer close(read)
		for p, err := range packs {
			it := item{err: err}
			if err == nil {
				p = p.limitLengths()
				it.doc = bm25.Document{Key: p.Name, Texts: p.texts(), Demoted: p.Deprecated != ""}
				it.doc.Data, it.err = json.Marshal(p)
			}
			select {
			case read <- it:
			case <-stop:
				return
			}
		}
	})
	defer func() {
		close(stop)
		for range read { // until it is closed
		}
	}()
	return bm25.Build(w, schema(), func(yield func(bm25.Document, error) bool) {
		for it := range read {
			if !yield(it.doc, it.err) {
				return
			}
		}
	})
}

// Drop removes an index, if it can be removed.
func (c Cache) Drop(name, tag string) { _ = os.Remove(c.path(name, tag)) }

// tidy removes the indexes of what the same registry was before. One that another process reads may stay for now.
func (c Cache) tidy(path string) {
	prefix, _, _ := strings.Cut(filepath.Base(path), "-")
	old, _ := filepath.Glob(filepath.Join(c.Dir, prefix+"-*"+suffix)) // the pattern is right
	for _, p := range old {
		if p != path {
			_ = os.Remove(p)
		}
	}
}

// path returns the file of an index. Its name has the format, so that two versions of skillpm leave each other's alone.
func (c Cache) path(name, tag string) string {
	return filepath.Join(c.Dir, textx.SHA256(bm25.Magic + name)[:32]+"-"+textx.SHA256(tag)[:32]+suffix)
}
