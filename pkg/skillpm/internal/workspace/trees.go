package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/store"
)

// stageTrees fills the staging directories, several at a time, and returns the state after the change. With hard their
// files are hard links into the store.
func (w *Workspace) stageTrees(ctx context.Context, tx *txn.Tx, c *Change, hard bool) (*state, error) {
	next := newState()
	for at, t := range c.unchanged {
		known, ok := w.state.Trees[at]
		if !ok { // only the lockfile has it, and it has local edits
			known = treeState{Digest: t.Digest, Source: t.source()}
		}
		next.Trees[at] = known
	}
	for _, skipped := range c.Skipped {
		if known, ours := w.state.Trees[skipped.Path]; ours {
			next.Trees[skipped.Path] = known
		}
	}
	maps.Copy(next.Trees, c.rehashed)
	paths := slices.Sorted(maps.Keys(c.Trees))
	states := make([]treeState, len(paths))
	needs := make([]skill.Requirements, len(paths))
	dirs := make([]string, len(paths))
	for i, at := range paths {
		dir, err := tx.StageDir(at)
		if err != nil {
			return nil, err
		}
		dirs[i] = dir
	}
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i, at := range paths {
		group.Go(func() (err error) {
			states[i], needs[i], err = w.machine.materialize(ctx, c.Trees[at], dirs[i], hard)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		if _, ok := errors.AsType[*bundle.MismatchError](err); ok {
			w.machine.discardDamaged(c)
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if diag.CodeOf(err) == diag.NotFound { // it existed when the change was computed
			return nil, fmt.Errorf("%w: %w", ErrGone, err)
		}
		return nil, err
	}
	c.requirements = make(map[string]skill.Requirements, len(paths))
	for i, at := range paths {
		next.Trees[at], c.requirements[at] = states[i], needs[i]
	}
	return next, nil
}

// discardDamaged removes all damaged trees of a change from the store, so that one retry is enough.
func (m *Machine) discardDamaged(c *Change) {
	s, err := m.Store()
	if err != nil {
		return
	}
	for _, t := range c.Trees {
		if _, damaged := errors.AsType[*bundle.MismatchError](s.Verify(t.Digest)); damaged {
			_ = s.Discard(t.Digest) // the next verification finds what can't be removed
		}
	}
}

// materialize writes a tree to dir, under its alias if it has one. It returns the state of the tree, and the
// requirements that the skill declares.
func (m *Machine) materialize(
	ctx context.Context, t Tree, dir string, hard bool,
) (state treeState, needs skill.Requirements, err error) {
	s, err := m.Store()
	if err != nil {
		return state, needs, err
	}
	found := false
	inv, err := s.Copy(ctx, t.Digest, dir, store.CopyOptions{
		Link: hard, File: skill.File, Inspect: func(data []byte) error {
			found = true
			doc, _ := skill.Parse(data) // validate reports its errors
			needs = doc.Requirements()
			return checkName(doc.Name(), t)
		},
	})
	if err == nil && !found {
		err = fmt.Errorf("the skill %[2]s of %[1]s does not have a %[3]s", t.Pack, t.Skill, skill.File)
	}
	if err != nil {
		return state, needs, err
	}
	digest := t.Digest
	if t.Alias != "" {
		renamed, data, err := m.expected(t)
		if err != nil {
			return state, needs, err
		}
		file := filepath.Join(dir, skill.File)
		if err := os.Remove(file); err != nil { // it may share its bytes with the store
			return state, needs, err
		}
		mode := fs.FileMode(0o644)
		if e, ok := renamed.Find(skill.File); ok && e.Executable {
			mode = 0o755
		}
		if err := os.WriteFile(file, data, mode); err != nil {
			return state, needs, err
		}
		digest = renamed.Digest()
	}
	return treeState{Digest: digest, Source: t.source(), fingerprint: fingerprintOf(dir, entriesOf(inv))}, needs, nil
}

// checkName rejects a skill whose frontmatter has the name of another skill, or a name with slashes or control
// characters: agents that read the frontmatter would use it. Other illegal names stay.
func checkName(name string, t Tree) error {
	if name == t.Skill || !skill.LegalName(name) && !strings.ContainsFunc(name,
		func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) }) {
		return nil
	}
	return diag.Errorf(diag.Invalid, "%s: the skill %s has the name %q in its frontmatter", t.Pack, t.Skill, name).
		WithHint("ask the author of the pack to use the same name for the directory and in the frontmatter")
}
