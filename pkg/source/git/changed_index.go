package git

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// tracked is a file of the index, or a directory that has some.
type tracked struct {
	name   string
	entry  *index.Entry // nil for a directory
	seen   bool         // in the work tree
	list   []*tracked
	byName map[string]*tracked
}

// readIndex returns the root directory of the index.
func (w *workTree) readIndex() (*tracked, error) {
	root := &tracked{}
	f, err := safefile.Open(filepath.Join(w.gitDir, "index"), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return root, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	w.written = info.ModTime()
	var idx index.Index
	err = index.NewDecoder(bufio.NewReaderSize(f, 1<<16)).Decode(&idx)
	switch {
	case errors.Is(err, index.ErrUnknownExtension):
		return nil, diag.Errorf(diag.Invalid, "the index of %s is split or sparse, which skillpm cannot read", w.root).
			WithHint("run git update-index --no-split-index, or git sparse-checkout reapply --no-sparse-index")
	case errors.Is(err, index.ErrInvalidChecksum) && withoutChecksum(f, info.Size()):
	case err != nil:
		return nil, diag.Errorf(diag.Invalid, "the index of %s cannot be read: %s", w.root, oneLine(err))
	}
	for _, e := range idx.Entries {
		if e.Stage != 0 { // a conflict: it differs, whatever is there
			err = w.report(e.Name)
		} else {
			err = root.add(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return root, nil
}

// withoutChecksum reports whether an index ends in the zeros that git writes when it is told to save the time that a
// checksum takes.
func withoutChecksum(f *os.File, size int64) bool {
	var sum plumbing.Hash
	_, err := f.ReadAt(sum[:], size-int64(len(sum)))
	return err == nil && sum.IsZero()
}

// add puts an entry of the index in its place.
func (t *tracked) add(e *index.Entry) error {
	rest := strings.TrimSuffix(e.Name, "/")
	if len(rest) > maxTreePath {
		return diag.Errorf(diag.Invalid, "the index has a path of %d bytes", len(rest))
	}
	for more := true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		next := t.byName[name]
		if next == nil {
			if err := checkName(name); err != nil {
				return diag.Errorf(diag.Invalid, "the index has %q: %w", e.Name, err)
			}
			next = &tracked{name: name}
			if t.byName == nil {
				t.byName = make(map[string]*tracked)
			}
			t.byName[name] = next
			t.list = append(t.list, next)
		}
		t = next
	}
	t.entry = e
	return nil
}

// writeTree returns the id of the tree that a commit of the index would have, and lets the trees be found by their ids.
// The entries of an index are in the order of those of trees.
func (w *workTree) writeTree(t *tracked) plumbing.Hash {
	var nodes []node
	var data []byte
	for _, c := range t.list {
		n := node{name: c.name, mode: filemode.Dir}
		if c.entry == nil {
			n.id = w.writeTree(c)
		} else if !c.entry.IntentToAdd {
			n.mode, n.id = canonicalMode(c.entry.Mode), c.entry.Hash
		}
		if n.id == emptyTree || n.id.IsZero() {
			continue
		}
		nodes = append(nodes, n)
		data = append(data, strconv.FormatUint(uint64(n.mode), 8)+" "+n.name+"\x00"...)
		data = append(data, n.id[:]...)
	}
	id := plumbing.ComputeHash(plumbing.TreeObject, data)
	slices.SortFunc(nodes, func(a, b node) int { return strings.Compare(a.name, b.name) })
	w.objects.trees[id] = nodes
	return id
}
