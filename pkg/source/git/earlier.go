package git

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// Before is a directory of a work tree as it was in an earlier commit. It is closed when it is no longer needed.
type Before struct {
	FS      fs.FS    // the directory then, empty if there was none
	Commit  string   // the earlier commit, "" where HEAD has no parent
	Changed []string // what differs now, sorted, with slashes and relative to the directory
	close   func() error
}

// Close frees what reading takes.
func (b *Before) Close() error { return b.close() }

// Earlier returns a directory as it was at the merge base of HEAD and since, which is a branch, a tag or a commit; ""
// is HEAD's first parent. What [Changed] says about what is read and what counts as changed counts here, too.
func Earlier(ctx context.Context, dir, since string) (*Before, error) {
	w, err := openWorkTree(dir)
	if err != nil {
		return nil, err
	}
	b, err := w.earlier(ctx, dir, since)
	if err != nil {
		_ = w.storage.Close() // it was only read
		return nil, err
	}
	return b, nil
}

func (w *workTree) earlier(ctx context.Context, dir, since string) (*Before, error) {
	base, err := w.base(ctx, since)
	if err != nil {
		return nil, err
	}
	real, err := pathx.ResolveExisting(dir)
	if err != nil {
		return nil, err
	}
	prefix, ok := pathx.Rel(w.root, real)
	if !ok {
		return nil, diag.Errorf(diag.Internal, "%s is not inside %s", dir, w.root)
	}
	b := &Before{close: w.storage.Close, FS: treeFS{ctx: ctx, commit: w.objects, root: emptyTree}}
	if base == nil {
		return b, nil
	}
	b.Commit = base.Hash.String()
	if err := w.compare(ctx, b.Commit); err != nil {
		return nil, err
	}
	for name := range w.changed {
		if rel, ok := pathx.RelSlash(filepath.ToSlash(prefix), name); ok {
			b.Changed = append(b.Changed, rel)
		}
	}
	slices.Sort(b.Changed)
	root := base.TreeHash
	if prefix != "." {
		n, err := treeFS{ctx: ctx, commit: w.objects, root: root}.find("open", filepath.ToSlash(prefix))
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && !n.IsDir():
			root = emptyTree
		case err != nil:
			return nil, err
		default:
			root = n.id
		}
	}
	b.FS = treeFS{ctx: ctx, commit: w.objects, root: root}
	return b, nil
}

// base returns the commit that HEAD is compared with, nil where there is none.
func (w *workTree) base(ctx context.Context, since string) (*object.Commit, error) {
	head, err := w.head()
	if err != nil || head == nil {
		return nil, err
	}
	if since != "" {
		return w.mergeBase(ctx, since, head)
	}
	h := &history{ctx: ctx, w: w}
	if h.shallow, err = w.storage.Shallow(); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", w.root, oneLine(err))
	}
	parents := h.parents(head)
	switch {
	case len(parents) > 0:
		return h.commit(parents[0])
	case h.cut:
		return nil, h.tooShallow("the parent of %s is not here", head.Hash.String()[:12])
	}
	return nil, nil //nolint:nilnil // the first commit has nothing before it
}
