package workspace

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// LockedTrees returns the trees that the lock names, as they are in the store, sorted by pack and skill.
func (w *Workspace) LockedTrees() []Tree {
	var trees []Tree
	for _, id := range w.Lock.IDs() {
		for name, digest := range w.Lock.Packs[id].Skills {
			trees = append(trees, Tree{Pack: id, Skill: name, Digest: digest})
		}
	}
	slices.SortFunc(trees, func(a, b Tree) int { return strings.Compare(a.path(), b.path()) })
	return trees
}

// path is how a report names a tree of the store.
func (t Tree) path() string { return t.Pack.String() + "/" + t.Skill }

// VerifyStore hashes the trees of the store that the lock names, several at a time.
func (w *Workspace) VerifyStore(ctx context.Context) (*StoreReport, error) {
	s, err := w.machine.Store()
	if err != nil {
		return nil, err
	}
	r := &StoreReport{Problems: []Problem{}}
	var mu sync.Mutex
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for _, t := range w.LockedTrees() {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := s.Verify(t.Digest)
			mu.Lock()
			defer mu.Unlock()
			damage, damaged := errors.AsType[*bundle.MismatchError](err)
			switch {
			case diag.CodeOf(err) == diag.NotFound:
				r.Absent++
				return nil
			case damaged:
				r.Problems = append(r.Problems, Problem{
					Kind: KindDamaged, Path: t.path(), Message: "is damaged in the store: " + damage.What,
					Want: t.Digest,
				})
			case err != nil:
				return err
			}
			r.Trees++
			return nil
		})
	}
	err = group.Wait()
	slices.SortFunc(r.Problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return r, err
}
