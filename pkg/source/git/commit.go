package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the ids of git objects are SHA-1
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// cacheSize is how much of a commit's objects is kept in memory, and largeObject the size from which a blob is streamed
// from disk.
const (
	cacheSize   = 16 * cache.MiByte
	largeObject = 1 << 20
)

// commit is a commit whose objects are on this machine.
type commit struct {
	dir     string // the cache entry, "" for a repository of this machine
	id      plumbing.Hash
	ready   sync.Mutex // held while it is fetched
	mu      sync.Mutex // go-git's storage is for one goroutine
	storage *filesystem.Storage
	root    plumbing.Hash
	trees   map[plumbing.Hash][]node
}

// tree returns the directory of a pinned place, fetching the commit if it is not here.
func (c *Client) tree(ctx context.Context, ref source.Ref) (treeFS, error) {
	k, err := c.commit(ctx, ref)
	if err != nil {
		return treeFS{}, err
	}
	t := treeFS{ctx: ctx, commit: k, root: k.root}
	if ref.Subdir == "" {
		return t, nil
	}
	n, err := t.find("open", ref.Subdir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return treeFS{}, diag.Errorf(diag.NotFound, "%s has no directory %s", atCommit(ref), ref.Subdir)
	case err != nil:
		return treeFS{}, fmt.Errorf("%s: %w", named(ref), err)
	case !n.IsDir():
		return treeFS{}, diag.Errorf(diag.NotFound, "%s of %s is not a directory", ref.Subdir, atCommit(ref))
	}
	return treeFS{ctx: ctx, commit: k, root: n.id}, nil
}

// atCommit names a repository and the commit that was looked at.
func atCommit(ref source.Ref) string {
	if ref.Rev != "" {
		return ref.URL + " at " + ref.Rev
	}
	return ref.URL + " at " + ref.Digest[:12]
}

// commit returns the commit of a pinned place, from memory, the cache, or the server.
func (c *Client) commit(ctx context.Context, ref source.Ref) (*commit, error) {
	c.mu.Lock()
	key := ref.URL + "#" + ref.Digest
	k := c.commits[key]
	if k == nil {
		k = &commit{id: plumbing.NewHash(ref.Digest), trees: make(map[plumbing.Hash][]node)}
		c.commits[key] = k
	}
	c.mu.Unlock()

	k.ready.Lock()
	defer k.ready.Unlock()
	if k.storage != nil {
		return k, nil
	}
	if isLocal(ref) {
		return k, c.openLocalCommit(ref, k)
	}
	dir, err := c.cacheDir(ref)
	if err != nil {
		return nil, err
	}
	if k.open(dir) == nil {
		return k, nil
	}
	if err := c.download(ctx, ref, dir); err != nil {
		return nil, err
	}
	err = k.open(dir)
	if err == nil {
		return k, nil
	}
	_ = os.RemoveAll(dir) // it is of no use
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, noCommit(ref)
	}
	return nil, fmt.Errorf("%s: %w", atCommit(ref), err)
}

// noCommit says that a repository does not have the commit that a place is pinned to.
func noCommit(ref source.Ref) error {
	return diag.Errorf(diag.NotFound, "%s has no commit %s", ref.URL, ref.Digest).
		WithHint("a tag that was moved, or a branch that was rewritten, leaves commits that servers drop after a while")
}

// cacheDir returns the directory that a commit is kept in: one for each URL, so that no repository can stand in for
// another.
func (c *Client) cacheDir(ref source.Ref) (string, error) {
	root, err := c.cacheRoot()
	sum := sha256.Sum256([]byte(ref.URL))
	return filepath.Join(root, hex.EncodeToString(sum[:8]), ref.Digest), err
}

func (c *Client) cacheRoot() (string, error) {
	if c.options.Cache != "" {
		return c.options.Cache, os.MkdirAll(c.options.Cache, 0o755)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.temp == "" {
		c.temp, err = os.MkdirTemp("", "skillpm-git-")
	}
	return c.temp, err
}

// newStorage returns the objects below a directory, for reading.
func newStorage(dir string) *filesystem.Storage {
	return filesystem.NewStorageWithOptions(osfs.New(dir, osfs.WithBoundOS()), cache.NewObjectLRU(cacheSize), filesystem.Options{
		ExclusiveAccess: true, KeepDescriptors: true, LargeObjectThreshold: largeObject,
	})
}

// open opens the commit from the objects in dir.
func (k *commit) open(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "objects", "pack")); err != nil {
		return err
	}
	k.dir = dir
	return k.use(newStorage(dir))
}

// use reads the commit from a storage, and keeps it if that works.
func (k *commit) use(storage *filesystem.Storage) error {
	o, err := storage.EncodedObject(plumbing.AnyObject, k.id)
	if err == nil && o.Type() != plumbing.CommitObject {
		err = diag.Errorf(diag.Invalid, "what the revision names is a %s, not a commit", o.Type())
	}
	var decoded object.Commit
	if err == nil {
		err = decoded.Decode(o)
	}
	if err != nil {
		_ = storage.Close() // the first error matters
		return err
	}
	k.storage, k.root = storage, decoded.TreeHash
	return nil
}

func (k *commit) close() error {
	k.ready.Lock()
	defer k.ready.Unlock()
	if k.storage == nil {
		return nil
	}
	err := k.storage.Close()
	k.storage = nil
	return err
}

// nodes returns the entries of a tree.
func (k *commit) nodes(id plumbing.Hash) ([]node, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if nodes, ok := k.trees[id]; ok {
		return nodes, nil
	}
	data, err := k.read(plumbing.TreeObject, id)
	if err != nil {
		return nil, err
	}
	nodes, err := parseTree(data, k)
	if err == nil {
		k.trees[id] = nodes
	}
	return nodes, err
}

// size returns the size of a blob.
func (k *commit) size(id plumbing.Hash) (int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size, err := k.storage.EncodedObjectSize(id)
	return size, k.damaged(id, err)
}

// blob opens a blob. A small one is in memory and checked; a large one is checked when it has been read to its end.
func (k *commit) blob(id plumbing.Hash) (io.ReadCloser, int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size, err := k.storage.EncodedObjectSize(id)
	if err != nil {
		return nil, 0, k.damaged(id, err)
	}
	if size < largeObject {
		data, err := k.read(plumbing.BlobObject, id)
		return io.NopCloser(bytes.NewReader(data)), int64(len(data)), err
	}
	o, err := k.storage.EncodedObject(plumbing.BlobObject, id)
	if err != nil {
		return nil, 0, k.damaged(id, err)
	}
	r, err := o.Reader()
	if err != nil {
		return nil, 0, k.damaged(id, err)
	}
	return &checkedReader{ReadCloser: r, commit: k, id: id, sum: plumbing.NewHasher(plumbing.BlobObject, size)}, size, nil
}

// read returns the content of a small object, after comparing it with its id.
func (k *commit) read(kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	o, err := k.storage.EncodedObject(kind, id)
	if err != nil {
		return nil, k.damaged(id, err)
	}
	r, err := o.Reader()
	if err != nil {
		return nil, k.damaged(id, err)
	}
	defer r.Close()
	data := make([]byte, o.Size())
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, k.damaged(id, err)
	}
	h := sha1.New() //nolint:gosec // see the import
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	if !bytes.Equal(h.Sum(nil), id[:]) {
		return nil, k.damaged(id, errors.New("its content is not that of its id"))
	}
	return data, nil
}

// damaged explains that an object cannot be read, and drops the cache entry, so that it is fetched again next time.
func (k *commit) damaged(id plumbing.Hash, err error) error {
	if err == nil {
		return nil
	}
	e := diag.Errorf(diag.Integrity, "object %s of commit %s is missing or damaged: %s", id, k.id, oneLine(err))
	if k.dir == "" {
		return e.WithHint("check the repository with git fsck")
	}
	_ = os.RemoveAll(k.dir) // what remains is found out about the same way
	return e.WithHint("run the command again: the commit will be fetched anew")
}

// checkedReader compares what was read with the object's id.
type checkedReader struct {
	io.ReadCloser
	commit *commit
	id     plumbing.Hash
	sum    plumbing.Hasher
}

func (r *checkedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.sum.Write(p[:n])
	if err == io.EOF && r.sum.Sum() != r.id {
		return n, r.commit.damaged(r.id, errors.New("its content is not that of its id"))
	}
	return n, err
}

// oneLine returns an error's text without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
