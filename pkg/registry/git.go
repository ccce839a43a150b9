package registry

import (
	"context"
	"io/fs"
	"path"
	"sync"

	"github.com/skillpm/skillpm/pkg/source"
)

// gitFiles reads an index in a git repository, of which one commit is looked at from first to last.
type gitFiles struct {
	ref     source.Ref
	trees   GitTrees
	offline bool

	mu   sync.Mutex
	tree fs.FS
}

func (g *gitFiles) read(ctx context.Context, name string) ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tree == nil {
		if g.offline {
			return nil, offline("the index " + g.ref.String())
		}
		tree, err := g.trees.Tree(ctx, g.ref)
		if err != nil {
			return nil, err
		}
		g.tree = tree
	}
	return disk{g.ref.String(), g.tree}.read(ctx, path.Clean(name))
}
