package store

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// FS returns a tree of the store as a file system with SKILL.md at its root. It has exactly the files of the inventory.
// It verifies the content of a file before it returns any of it. Errors have the code NotFound or Integrity; the latter
// removes the tree from the store.
func (s *Store) FS(digest string) (fs.FS, error) {
	inv, err := s.Inventory(digest)
	if err != nil {
		return nil, s.withoutDamaged(digest, err)
	}
	t := &tree{
		store: s, digest: digest, files: make(map[string]bundle.Entry, len(inv)),
		dirs: map[string][]fs.DirEntry{".": nil},
	}
	for _, e := range inv {
		t.files[e.Path] = e
		t.add(e.Path, node{name: path.Base(e.Path), size: e.Size, mode: modeOf(&e)})
	}
	for _, entries := range t.dirs {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return t, nil
}

// tree is a tree of the store as a file system.
type tree struct {
	store  *Store
	digest string
	files  map[string]bundle.Entry
	dirs   map[string][]fs.DirEntry
}

// add adds a node to its directory, and new directories to their parents.
func (t *tree) add(name string, n node) {
	dir := path.Dir(name)
	_, known := t.dirs[dir]
	t.dirs[dir] = append(t.dirs[dir], n)
	if !known {
		t.add(dir, node{name: path.Base(dir), mode: fs.ModeDir | 0o755})
	}
}

// Open opens a directory, or a file whose content it verifies.
func (t *tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if entries, ok := t.dirs[name]; ok {
		return &openDir{node: node{name: path.Base(name), mode: fs.ModeDir | 0o755}, entries: entries}, nil
	}
	data, err := t.ReadFile(name)
	if err != nil {
		return nil, err
	}
	e := t.files[name]
	n := node{name: path.Base(name), size: e.Size, mode: modeOf(&e)}
	return &openFile{node: n, Reader: bytes.NewReader(data)}, nil
}

// ReadFile returns the verified content of a file.
func (t *tree) ReadFile(name string) ([]byte, error) {
	e, ok := t.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	data, err := t.store.read(t.digest, e)
	return data, t.store.withoutDamaged(t.digest, err)
}

// Stat describes a file by its inventory, without reading it.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	if _, ok := t.dirs[name]; ok {
		return node{name: path.Base(name), mode: fs.ModeDir | 0o755}, nil
	}
	e, ok := t.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return node{name: path.Base(name), size: e.Size, mode: modeOf(&e)}, nil
}

// ReadDir returns the entries of a directory, sorted.
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, ok := t.dirs[name]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return slices.Clone(entries), nil
}

// node is a file or a directory of a tree. Its time is zero, because inventories have none.
type node struct {
	name string
	size int64
	mode fs.FileMode
}

func (n node) Name() string               { return n.name }
func (n node) Size() int64                { return n.size }
func (n node) Mode() fs.FileMode          { return n.mode }
func (n node) Type() fs.FileMode          { return n.mode.Type() }
func (n node) ModTime() time.Time         { return time.Time{} }
func (n node) IsDir() bool                { return n.mode.IsDir() }
func (n node) Sys() any                   { return nil }
func (n node) Info() (fs.FileInfo, error) { return n, nil }
func (n node) Stat() (fs.FileInfo, error) { return n, nil }

type openFile struct {
	node
	*bytes.Reader
}

func (f *openFile) Size() int64  { return f.size }
func (f *openFile) Close() error { return nil }

type openDir struct {
	node
	entries []fs.DirEntry
}

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}
func (d *openDir) Close() error { return nil }

// ReadDir implements [fs.ReadDirFile].
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		rest := d.entries
		d.entries = nil
		return slices.Clone(rest), nil
	}
	if len(d.entries) == 0 {
		return nil, io.EOF
	}
	next := d.entries[:min(n, len(d.entries))]
	d.entries = d.entries[len(next):]
	return slices.Clone(next), nil
}
