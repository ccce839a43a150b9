package search

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
)

// Shelf is a directory of indexes, one for each catalogue. It is part of a cache: it may be emptied at any time, and
// several processes may use it at once.
type Shelf struct {
	Dir string
}

const suffix = ".search"

// Open opens the index of a catalogue that has a name and, as it is now, a tag. It is an error that is [fs.ErrNotExist]
// if that is not indexed, and one with the code [diag.Invalid] if the index is damaged.
func (s Shelf) Open(name, tag string) (*Index, error) {
	x, err := Open(s.path(name, tag))
	if err == nil && x.Tag() != digest(tag) {
		x.Close()
		return nil, fs.ErrNotExist
	}
	return x, err
}

// Build indexes a catalogue and opens the index. What the shelf has of the name so far is replaced.
func (s Shelf) Build(name, tag string, docs iter.Seq2[Doc, error]) (*Index, error) {
	path := s.path(name, tag)
	err := atomicfile.Stream(path, atomicfile.Options{MkdirMode: 0o755}, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		if err := Build(b, Options{Tag: digest(tag), Temp: s.Dir}, docs); err != nil {
			return err
		}
		return b.Flush()
	})
	if err != nil {
		return nil, err
	}
	s.tidy(path)
	return Open(path)
}

// Drop forgets an index, if it can be removed.
func (s Shelf) Drop(name, tag string) { _ = os.Remove(s.path(name, tag)) }

// tidy removes the indexes of what the same catalogue was before. One that somebody reads may stay for now.
func (s Shelf) tidy(path string) {
	prefix, _, _ := strings.Cut(filepath.Base(path), "-")
	old, _ := filepath.Glob(filepath.Join(s.Dir, prefix+"-*"+suffix)) // the pattern is right
	for _, p := range old {
		if p != path {
			_ = os.Remove(p)
		}
	}
}

// path returns the file of an index. The form is part of its name, so that two versions of the program leave each
// other's alone.
func (s Shelf) path(name, tag string) string {
	return filepath.Join(s.Dir, digest(magic + name)[:32]+"-"+digest(tag)[:16]+suffix)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
