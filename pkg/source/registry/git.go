package registry

import (
	"context"
	"io/fs"
	"path"
	"sync"

	"github.com/skillpm/skillpm/pkg/pack"
)

// gitFiles reads an index in a git repository. All reads use the commit that the first one resolved.
type gitFiles struct {
	ref     pack.Ref
	trees   GitTrees
	cache   cache
	offline bool

	mu     sync.Mutex
	tree   fs.FS
	commit string
}

func (g *gitFiles) read(ctx context.Context, name string) ([]byte, error) {
	tree, _, err := g.refresh(ctx)
	if err != nil {
		return nil, err
	}
	return dirFiles{g.ref.String(), tree}.read(ctx, path.Clean(name))
}

// refresh resolves and opens the commit once.
func (g *gitFiles) refresh(ctx context.Context) (tree fs.FS, commit string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tree != nil {
		return g.tree, g.commit, nil
	}
	if g.offline {
		return nil, "", offlineError("the index " + g.ref.String())
	}
	g.tree, g.commit, err = g.trees.Tree(ctx, g.ref)
	return g.tree, g.commit, err
}
