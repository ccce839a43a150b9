package git

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// BaseTree is a directory of a work tree as an earlier commit has it. Callers must close it.
type BaseTree struct {
	FS      fs.FS    // the directory in that commit, empty if it did not exist; nil without an earlier commit
	Commit  string   // the earlier commit, "" if HEAD has no parent
	Changed []string // files that differ now, sorted, slash-separated, relative to the directory

	client *Client
}

// Close releases the repository.
func (b *BaseTree) Close() error { return b.client.Close() }

// OpenBase returns a directory at the merge base of HEAD and since, which is a branch, a tag, or a commit. If since is
// "", it is HEAD's first parent. The changed files are those of [Changed].
func OpenBase(ctx context.Context, dir, since string) (*BaseTree, error) {
	w, err := openWorkTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	prefix, err := w.prefix(dir)
	if err != nil {
		return nil, err
	}
	b := &BaseTree{client: New(Options{})}
	if b.Commit, err = w.base(ctx, since); err != nil || b.Commit == "" {
		return b, err
	}
	changed, err := w.changedSince(ctx, b.Commit)
	if err != nil {
		return nil, err
	}
	for _, name := range changed {
		if rel, ok := pathx.RelSlash(prefix, name); ok {
			b.Changed = append(b.Changed, rel)
		}
	}
	url := "file:///" + strings.TrimPrefix(filepath.ToSlash(w.root), "/")
	files, _, err := b.client.Tree(ctx, pack.Ref{Kind: pack.KindGit, URL: url, Digest: b.Commit})
	if err == nil {
		b.FS, err = fs.Sub(files, prefix)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// base returns the commit to compare HEAD with, "" if there is none.
func (w *workTree) base(ctx context.Context, since string) (string, error) {
	head, err := w.revParse(ctx, "HEAD^{commit}")
	if isGitError(err) {
		return "", nil
	}
	if err != nil || since != "" {
		return w.mergeBase(ctx, since)
	}
	parent, err := w.revParse(ctx, "HEAD^1")
	switch {
	case !isGitError(err):
		return parent, err
	case w.shallow:
		return "", shallowError("the parent of commit %s is missing", head[:12])
	}
	return "", nil
}
