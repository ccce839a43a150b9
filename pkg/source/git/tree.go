package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

// treeFS is a tree of a commit as a read-only file system. It lists symbolic links and submodules but does not follow
// them. Reading a tree with invalid or duplicate names fails. When ctx ends, so do all operations.
type treeFS struct {
	ctx     context.Context
	commit  *commit
	root    plumbing.Hash
	listing bool // sizes are not needed, so no blob is fetched for them
}

// node is an entry of a tree.
type node struct {
	name string
	mode filemode.FileMode
	id   plumbing.Hash
}

// withContext returns the tree with another context.
func (t treeFS) withContext(ctx context.Context) treeFS {
	t.ctx = ctx
	return t
}

// Open opens a file or directory.
func (t treeFS) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		nodes, err := t.commit.nodes(t.ctx, n.id)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return &openDir{node: n, entries: t.entries(nodes)}, nil
	}
	if !n.Type().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: notRegular(n)}
	}
	r, size, err := t.commit.blob(t.ctx, n.id)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{ReadCloser: r, info: fileInfo{n, size}}, nil
}

// ReadDir lists a directory in bytewise order of names.
func (t treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	nodes, err := t.commit.nodes(t.ctx, n.id)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return t.entries(nodes), nil
}

// Stat describes an entry; it does not follow symbolic links.
func (t treeFS) Stat(name string) (fs.FileInfo, error) {
	n, err := t.find("stat", name)
	if err != nil {
		return nil, err
	}
	return dirEntry{n, t}.Info()
}

// find returns the entry at a path.
func (t treeFS) find(op, name string) (node, error) {
	if !fs.ValidPath(name) {
		return node{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if err := t.ctx.Err(); err != nil {
		return node{}, context.Cause(t.ctx)
	}
	n := node{name: ".", mode: filemode.Dir, id: t.root}
	if name == "." {
		return n, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if !n.IsDir() {
			return node{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		nodes, err := t.commit.nodes(t.ctx, n.id)
		if err != nil {
			return node{}, &fs.PathError{Op: op, Path: name, Err: err}
		}
		i, ok := slices.BinarySearchFunc(nodes, part, func(n node, s string) int { return strings.Compare(n.name, s) })
		if !ok {
			return node{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		n = nodes[i]
	}
	return n, nil
}

func notRegular(n node) error {
	rule := "is a symbolic link; skillpm does not follow links"
	if n.mode == filemode.Submodule {
		rule = "is a submodule; skillpm does not fetch submodules"
	}
	return &bundle.EntryError{Entry: n.name, Rule: rule}
}

// Name returns the entry's own name.
func (n node) Name() string { return n.name }

// IsDir reports whether the entry is a tree.
func (n node) IsDir() bool { return n.mode == filemode.Dir }

// Type returns the kind of entry.
func (n node) Type() fs.FileMode { return n.fileMode().Type() }

// dirEntry is a node with its tree, which provides its size.
type dirEntry struct {
	node
	tree treeFS
}

// Info describes the entry. The size of a regular file may be fetched.
func (d dirEntry) Info() (fs.FileInfo, error) {
	if !d.Type().IsRegular() || d.tree.listing {
		return fileInfo{d.node, 0}, nil
	}
	size, err := d.tree.commit.size(d.tree.ctx, d.id)
	return fileInfo{d.node, size}, err
}

func (n node) fileMode() fs.FileMode {
	switch n.mode {
	case filemode.Dir:
		return fs.ModeDir | 0o755
	case filemode.Executable:
		return 0o755
	case filemode.Regular, filemode.Deprecated:
		return 0o644
	case filemode.Symlink:
		return fs.ModeSymlink | 0o777
	}
	return fs.ModeIrregular
}

type fileInfo struct {
	node
	size int64
}

func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.fileMode() }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) Sys() any           { return nil }

type openFile struct {
	io.ReadCloser
	info fileInfo
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

type openDir struct {
	node    node
	entries []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return fileInfo{d.node, 0}, nil }
func (d *openDir) Close() error               { return nil }
func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.node.name, Err: errors.New("is a directory")}
}

// ReadDir returns the next n entries, or all remaining ones if n is not positive.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.entries) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.entries) {
		n = len(d.entries)
	}
	list := d.entries[:n]
	d.entries = d.entries[n:]
	return list, nil
}

func (t treeFS) entries(nodes []node) []fs.DirEntry {
	list := make([]fs.DirEntry, len(nodes))
	for i, n := range nodes {
		list[i] = dirEntry{n, t}
	}
	return list
}

// parseTree reads a tree object: mode, space, name, zero byte and the id of each entry. Entries are returned in
// bytewise order of their names. A directory with more files than a skill may have is an error.
func parseTree(data []byte) ([]node, error) {
	most := bundle.DefaultLimits().Files
	nodes := make([]node, 0, min(len(data)/40, most))
	for len(data) > 0 {
		if len(nodes) == most {
			return nil, packfile.TooLarge("a directory has more than %d entries", most)
		}
		mode, rest, ok := bytes.Cut(data, []byte{' '})
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < len(plumbing.Hash{}) {
			return nil, diag.Errorf(diag.Invalid, "a tree object of the commit is malformed")
		}
		m, err := filemode.New(string(mode))
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "a tree object of the commit has an invalid mode")
		}
		n := node{name: string(name), mode: canonicalMode(m)}
		copy(n.id[:], rest)
		data = rest[len(n.id):]
		if err := checkName(n.name); err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b node) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(nodes); i++ {
		if nodes[i].name == nodes[i-1].name {
			return nil, &bundle.EntryError{Entry: nodes[i].name, Rule: "is duplicated"}
		}
	}
	return nodes, nil
}

// canonicalMode maps the modes of old repositories to those that git writes, as git does when it reads them.
func canonicalMode(m filemode.FileMode) filemode.FileMode {
	switch m & 0o170000 {
	case 0o040000:
		return filemode.Dir
	case 0o100000:
		if m&0o100 != 0 {
			return filemode.Executable
		}
		return filemode.Regular
	case 0o120000:
		return filemode.Symlink
	}
	return filemode.Submodule
}

// checkName rejects names that git itself never writes to a tree.
func checkName(name string) error {
	rule := ""
	switch {
	case name == "" || name == "." || name == ".." || strings.Contains(name, "/"):
		rule = "is not a valid name of a file or directory"
	case pathx.MeansDotGit(name):
		rule = "means the .git directory on some systems"
	}
	if rule == "" {
		return nil
	}
	return &bundle.EntryError{Entry: name, Rule: rule}
}
