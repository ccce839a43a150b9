package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/hash"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

// The limits of one commit: bytes of a commit, tree, or tag, and entries and bytes of all distinct trees. Parsed trees
// stay in memory, because a walk that parses a large tree again for each of its files does not end.
const (
	maxObject      = 16 << 20
	maxTreeEntries = 1_000_000
	maxTreeBytes   = 128 << 20
)

// commit is a commit with all or some of its objects on this machine.
type commit struct {
	client *Client
	ref    pack.Ref
	id     plumbing.Hash
	dir    string // the cache entry, "" for a local repository

	fetchMu   sync.Mutex // held during fetches
	received  int64      // bytes from the server
	refetched bool       // a damaged cache entry was fetched again

	mu        sync.RWMutex
	objects   objects
	complete  bool      // objects has all objects of the commit
	replaced  []objects // replaced, but possibly still in use
	root      plumbing.Hash
	trees     map[plumbing.Hash][]node
	entries   int // of trees
	treeBytes int // of trees
}

// tree returns the directory of a pinned reference. It fetches the commit if necessary.
func (c *Client) tree(ctx context.Context, ref pack.Ref) (treeFS, error) {
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
		return treeFS{}, diag.Errorf(diag.NotFound, "%s does not contain the directory %s", pinnedName(ref), ref.Subdir)
	case err != nil:
		return treeFS{}, fmt.Errorf("%s: %w", refText(ref), err)
	case !n.IsDir():
		return treeFS{}, diag.Errorf(diag.NotFound, "%s in %s is not a directory", ref.Subdir, pinnedName(ref))
	}
	return treeFS{ctx: ctx, commit: k, root: n.id}, nil
}

// pinnedName returns the URL of a repository with its revision or short commit, for errors.
func pinnedName(ref pack.Ref) string {
	if ref.Rev != "" {
		return ref.URL + " at " + ref.Rev
	}
	return ref.URL + " at " + ref.Digest[:12]
}

// commit returns the commit of a pinned reference, from memory, the cache, or the server.
func (c *Client) commit(ctx context.Context, ref pack.Ref) (*commit, error) {
	c.mu.Lock()
	key := ref.URL + "#" + ref.Digest
	k := c.commits[key]
	if k == nil {
		k = &commit{client: c, ref: ref, id: plumbing.NewHash(ref.Digest), trees: make(map[plumbing.Hash][]node)}
		c.commits[key] = k
	}
	c.mu.Unlock()

	k.fetchMu.Lock()
	defer k.fetchMu.Unlock()
	if k.objects != nil {
		return k, nil
	}
	return k, k.load(ctx)
}

// load opens the commit's objects: in a local repository, in the cache, or from the server.
func (k *commit) load(ctx context.Context) (err error) {
	if isLocal(k.ref) {
		return k.openLocal()
	}
	if k.dir, err = k.client.cacheDir(k.ref); err != nil {
		return err
	}
	if k.openCached() == nil {
		return nil
	}
	return k.download(ctx, wantsSubset(ctx, k.ref))
}

// openCached opens the cache entry.
func (k *commit) openCached() error {
	s, err := packfile.OpenSet(k.dir, k.client.limits.packs)
	if err != nil {
		return err
	}
	_, err = os.Stat(k.marker())
	return k.setObjects(s, err == nil)
}

// noCommit returns the error that a repository does not have the pinned commit.
func noCommit(ref pack.Ref) error {
	return diag.Errorf(diag.NotFound, "%s does not contain the commit %s", ref.URL, ref.Digest).
		WithHint("use another revision; servers delete commits that no branch or tag contains")
}

// setObjects reads the commit from o and stores o if that works; otherwise it closes o.
func (k *commit) setObjects(o objects, complete bool) error {
	root, err := readCommit(o, k.id)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		err = noCommit(k.ref)
	}
	if err != nil {
		_ = o.Close() // the first error matters
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.objects != nil {
		k.replaced = append(k.replaced, k.objects) // other goroutines may be reading from them
	}
	k.objects, k.complete, k.root = o, complete, root
	return nil
}

// readCommit returns the tree id of a commit.
func readCommit(o objects, id plumbing.Hash) (root plumbing.Hash, err error) {
	kind, _, err := o.Find(id)
	switch {
	case err != nil:
		return root, err
	case kind != plumbing.CommitObject:
		return root, diag.Errorf(diag.Invalid, "the revision is a %s, not a commit", kind)
	}
	data, err := readVerified(o, plumbing.CommitObject, id)
	if err != nil {
		return root, err
	}
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	tree, ok := strings.CutPrefix(string(line), "tree ")
	if !ok || !isCommit(tree) {
		return root, diag.Errorf(diag.Invalid, "the commit %s is malformed", id)
	}
	return plumbing.NewHash(tree), nil
}

func (k *commit) close() error {
	k.fetchMu.Lock()
	defer k.fetchMu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	var first error
	for _, o := range append(k.replaced, k.objects) {
		if o == nil {
			continue
		}
		if err := o.Close(); first == nil {
			first = err
		}
	}
	k.objects, k.replaced = nil, nil
	return first
}

// availableObjects returns the objects that are available now.
func (k *commit) availableObjects() (o objects, complete bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.objects == nil {
		return packfile.Set{}, true // closed
	}
	return k.objects, k.complete
}

// forget frees the contents that are cached in memory.
func (k *commit) forget() {
	o, _ := k.availableObjects()
	if s, ok := o.(packfile.Set); ok {
		s.Forget()
	}
}

// nodes returns the entries of a tree.
func (k *commit) nodes(ctx context.Context, id plumbing.Hash) ([]node, error) {
	k.mu.RLock()
	nodes, ok := k.trees[id]
	k.mu.RUnlock()
	if ok {
		return nodes, nil
	}
	data, err := k.read(ctx, plumbing.TreeObject, id)
	if err != nil {
		return nil, err
	}
	nodes, err = parseTree(data)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.trees[id]; ok { // another goroutine was faster
		return nodes, nil
	}
	k.entries, k.treeBytes = k.entries+len(nodes), k.treeBytes+len(data)
	if k.entries > maxTreeEntries || k.treeBytes > maxTreeBytes {
		return nil, packfile.TooLarge("its directories have more than %d entries or %d bytes", maxTreeEntries,
			maxTreeBytes)
	}
	k.trees[id] = nodes
	return nodes, nil
}

// size returns the size of a blob.
func (k *commit) size(ctx context.Context, id plumbing.Hash) (size int64, err error) {
	err = k.readWithRefetch(ctx, id, func(o objects) error {
		_, size, err = o.Find(id)
		return err
	})
	return size, err
}

// blob opens a blob and returns its size. The id of a small blob is verified now, that of a large one when it has been
// read to its end.
func (k *commit) blob(ctx context.Context, id plumbing.Hash) (io.ReadCloser, int64, error) {
	size, err := k.size(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	if size < packfile.LargeObject {
		data, err := k.read(ctx, plumbing.BlobObject, id)
		return io.NopCloser(bytes.NewReader(data)), int64(len(data)), err
	}
	var r io.ReadCloser
	err = k.readWithRefetch(ctx, id, func(o objects) error {
		r, err = o.Stream(id)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	sum := packfile.NewHash(plumbing.BlobObject, size)
	return &checkedReader{ReadCloser: r, commit: k, id: id, sum: sum, remaining: size}, size, nil
}

// read returns the verified content of a small object.
func (k *commit) read(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (data []byte, err error) {
	err = k.readWithRefetch(ctx, id, func(o objects) error {
		data, err = readVerified(o, kind, id)
		return err
	})
	return data, err
}

var errIDMismatch = errors.New("the content does not match the object ID")

// readVerified returns the content of an object and verifies its id.
func readVerified(o objects, kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	actual, size, err := o.Find(id)
	if err != nil {
		return nil, err
	}
	if actual != kind {
		return nil, diag.Errorf(diag.Invalid, "object %s is a %s, not a %s", id, actual, kind)
	}
	if size > maxObject {
		return nil, packfile.TooLarge("a %s has %d bytes; the limit is %d", kind, size, int64(maxObject))
	}
	data, err := readAll(o, id, size)
	if err != nil {
		return nil, err
	}
	sum := packfile.NewHash(kind, int64(len(data)))
	sum.Write(data)
	if !bytes.Equal(sum.Sum(nil), id[:]) {
		return nil, errIDMismatch
	}
	return data, nil
}

// readAll returns the content of an object.
func readAll(o objects, id plumbing.Hash, size int64) ([]byte, error) {
	if size < packfile.LargeObject {
		return o.Content(id)
	}
	r, err := o.Stream(id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, size))
}

// readWithRefetch calls read. It first fetches an object that a partial commit lacks, and replaces a damaged cache
// entry once.
func (k *commit) readWithRefetch(ctx context.Context, id plumbing.Hash, read func(objects) error) error {
	o, complete := k.availableObjects()
	err := read(o)
	var coded interface{ Code() diag.Code }
	if err == nil || errors.As(err, &coded) {
		return err
	}
	refetch := k.replaceDamaged
	if errors.Is(err, plumbing.ErrObjectNotFound) && !complete {
		refetch = func(ctx context.Context, _ objects) error { return k.fetchMissing(ctx, []plumbing.Hash{id}) }
	}
	if k.dir == "" {
		return k.damaged(id, err)
	}
	if err := refetch(ctx, o); err != nil {
		return err
	}
	o, _ = k.availableObjects()
	return k.damaged(id, read(o))
}

// damaged returns the error that an object cannot be read, and removes the cache entry, so that the next run fetches it
// again.
func (k *commit) damaged(id plumbing.Hash, err error) error {
	if err == nil {
		return nil
	}
	e := diag.Errorf(diag.Integrity, "object %s of commit %s is missing or damaged: %s", id, k.id,
		textx.OneLine(err.Error()))
	if k.dir == "" {
		return e.WithHint("check the repository with: git fsck")
	}
	_ = os.RemoveAll(k.dir) // the next run detects files that remain
	return e.WithHint("run the command again to fetch the commit again")
}

// checkedReader verifies an object's id when its content has been read.
type checkedReader struct {
	io.ReadCloser
	commit    *commit
	id        plumbing.Hash
	sum       hash.Hash
	remaining int64
}

func (r *checkedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.sum.Write(p[:n])
	r.remaining -= int64(n)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return n, r.commit.damaged(r.id, err)
	case errors.Is(err, io.EOF) && (r.remaining != 0 || !bytes.Equal(r.sum.Sum(nil), r.id[:])):
		return n, r.commit.damaged(r.id, errIDMismatch)
	}
	return n, err
}

// missing returns the objects that are not on this machine, sorted and without duplicates.
func (k *commit) missing(ids []plumbing.Hash) []plumbing.Hash {
	o, complete := k.availableObjects()
	if complete {
		return nil
	}
	var list []plumbing.Hash
	seen := make(map[plumbing.Hash]bool)
	for _, id := range ids {
		if _, _, err := o.Find(id); err != nil && !seen[id] {
			seen[id] = true
			list = append(list, id)
		}
	}
	slices.SortFunc(list, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	return list
}
