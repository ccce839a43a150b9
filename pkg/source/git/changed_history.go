package git

import (
	"container/heap"
	"context"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/skillpm/skillpm/pkg/diag"
)

// head returns the commit that is checked out, or nil when there is none yet.
func (w *workTree) head() (*object.Commit, error) {
	ref, err := storer.ResolveReference(w.storage, plumbing.HEAD)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil, nil //nolint:nilnil // a repository without commits is no error
	} else if err != nil {
		return nil, diag.Errorf(diag.Invalid, "HEAD of %s cannot be read: %s", w.root, oneLine(err))
	}
	w.objects.id = ref.Hash()
	head, err := object.GetCommit(w.storage, ref.Hash())
	return head, w.objects.damaged(ref.Hash(), err)
}

// history is what walking the commits of a work tree needs.
type history struct {
	ctx     context.Context
	w       *workTree
	shallow []plumbing.Hash
	cut     bool // the history ended where a shallow clone ends it
}

// mergeBase returns the commit at which HEAD's history and that of since parted.
func (w *workTree) mergeBase(ctx context.Context, since string, head *object.Commit) (*object.Commit, error) {
	h := &history{ctx: ctx, w: w}
	var err error
	if h.shallow, err = w.storage.Shallow(); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", w.root, oneLine(err))
	}
	other, err := h.resolve(since)
	if err != nil {
		return nil, err
	}
	bases, err := h.bases(other, head)
	if err != nil {
		return nil, err
	}
	if len(bases) == 0 && h.cut {
		return nil, h.tooShallow("%s and HEAD have no commit in common among those that are here", since)
	}
	if len(bases) == 0 {
		return nil, diag.Errorf(diag.NotFound, "%s and HEAD have no commit in common", since)
	}
	return bases[0], nil
}

func (h *history) tooShallow(format string, args ...any) error {
	return diag.Errorf(diag.NotFound, format+": the clone is shallow", args...).
		WithHint("fetch more of the history: git fetch --unshallow, or fetch-depth: 0 where CI checks out")
}

// parents returns the ids of those parents of a commit that are here.
func (h *history) parents(c *object.Commit) []plumbing.Hash {
	if slices.Contains(h.shallow, c.Hash) {
		h.cut = h.cut || c.NumParents() > 0
		return nil
	}
	return c.ParentHashes
}

func (h *history) commit(id plumbing.Hash) (*object.Commit, error) {
	if err := h.ctx.Err(); err != nil {
		return nil, context.Cause(h.ctx)
	}
	c, err := object.GetCommit(h.w.storage, id)
	return c, h.w.objects.damaged(id, err)
}

// Marks of commits: reached from the one, from the other, and behind a commit that is reached from both.
const (
	fromOne = 1 << iota
	fromOther
	behind
)

// bases returns the best common ancestors of two commits, newest first: those that are no ancestor of another.
func (h *history) bases(one, other *object.Commit) ([]*object.Commit, error) {
	var found []*object.Commit
	marks, err := h.paint(one, other, func(c *object.Commit) { found = append(found, c) })
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(c *object.Commit) bool { return marks[c.Hash]&behind != 0 })
	for i := 0; len(found) > 1 && i < len(found); i++ { // dates that run backwards leave more than the best ones
		for j := range found {
			if j == i {
				continue
			}
			marks, err := h.paint(found[i], found[j], func(*object.Commit) {})
			if err != nil {
				return nil, err
			}
			if marks[found[i].Hash]&fromOther != 0 {
				found = slices.Delete(found, i, i+1)
				i--
				break
			}
		}
	}
	return found, nil
}

// paint walks back from two commits, newest first, until only what both have is left, and calls common with each commit
// that both have and that was not known to be behind another one.
func (h *history) paint(one, other *object.Commit, common func(*object.Commit)) (map[plumbing.Hash]int, error) {
	marks := map[plumbing.Hash]int{one.Hash: fromOne}
	marks[other.Hash] |= fromOther
	q := &queue{marks: marks}
	heap.Push(q, one)
	heap.Push(q, other)
	met := make(map[plumbing.Hash]bool)
	for q.open > 0 {
		c := heap.Pop(q).(*object.Commit)
		mark := marks[c.Hash]
		if mark == fromOne|fromOther {
			if !met[c.Hash] {
				met[c.Hash] = true
				common(c)
			}
			mark |= behind
		}
		for _, id := range h.parents(c) {
			if marks[id]&mark == mark {
				continue
			}
			parent, err := h.commit(id)
			if err != nil {
				return nil, err
			}
			q.mark(id, mark)
			heap.Push(q, parent)
		}
	}
	return marks, nil
}

// queue has commits, newest first, and knows how many of them are not behind a common one.
type queue struct {
	commits []*object.Commit
	marks   map[plumbing.Hash]int
	inside  map[plumbing.Hash]int // how often a commit is queued
	open    int
}

// mark adds marks to a commit; those that are queued and become behind are not open any more.
func (q *queue) mark(id plumbing.Hash, mark int) {
	before := q.marks[id]
	q.marks[id] = before | mark
	if before&behind == 0 && mark&behind != 0 {
		q.open -= q.inside[id]
	}
}

func (q *queue) count(id plumbing.Hash, n int) {
	if q.inside == nil {
		q.inside = make(map[plumbing.Hash]int)
	}
	q.inside[id] += n
	if q.marks[id]&behind == 0 {
		q.open += n
	}
}

func (q *queue) Len() int      { return len(q.commits) }
func (q *queue) Swap(i, j int) { q.commits[i], q.commits[j] = q.commits[j], q.commits[i] }
func (q *queue) Less(i, j int) bool {
	return q.commits[i].Committer.When.After(q.commits[j].Committer.When)
}

func (q *queue) Push(x any) {
	c := x.(*object.Commit)
	q.commits = append(q.commits, c)
	q.count(c.Hash, 1)
}

func (q *queue) Pop() any {
	last := len(q.commits) - 1
	c := q.commits[last]
	q.commits = q.commits[:last]
	q.count(c.Hash, -1)
	return c
}
