package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Apply carries out a change in one transaction, and writes the state that results. The error is [ErrChanged] or
// [ErrDamaged] if a retry may help.
func (w *Workspace) Apply(ctx context.Context, c *Change, l *Layout, g Documents, o CompareOptions) error {
	fill := func(tx *txn.Tx) error {
		next, err := w.stageTrees(ctx, tx, c, w.linkMode(g.Manifest) == pack.LinkHard)
		if err != nil {
			return err
		}
		maps.Copy(next.Links, l.links)
		for _, dir := range c.committed {
			next.Committed[dir] = true
		}
		next.Directories, next.Linked = w.directoriesAfter(g), w.state.Linked
		for id, p := range g.Lock.Packs {
			next.Packs[id.String()] = InstalledPack{Version: p.Version, Resolved: p.Resolved, Signer: p.Signer}
		}
		return errors.Join(w.stageOthers(tx, c, next), w.stageBackups(tx, c))
	}
	err := w.Transact(ctx, fill, func() error { return w.checkUnchanged(c, l, o) })
	if err == nil {
		w.removeEmptyDirs(c.removals, l.Dirs)
	}
	return err
}

// checkUnchanged compares the disk again just before the commit: fetching and writing take time, in which a user may
// create a file where the change writes one.
func (w *Workspace) checkUnchanged(c *Change, l *Layout, o CompareOptions) error {
	w.StartScan()
	current, err := w.Compare(l, o)
	if err != nil {
		return err
	}
	same := slices.Equal(current.removals, c.removals) && maps.Equal(current.Trees, c.Trees) &&
		maps.Equal(current.links, c.links) &&
		maps.Equal(current.backups, c.backups)
	if !same {
		return ErrChanged
	}
	return nil
}

// ErrChanged reports that another process changed manifest or lockfile during the operation.
var ErrChanged = errors.New("another process changed skillpm.yaml or skillpm.lock")

// ErrGone reports that another process removed a tree from the store, as cache gc does: fetching it again helps.
var ErrGone = errors.New("another process removed skills from the store")

// ErrDamaged reports that the store had a damaged tree, which it discarded: fetching it again may help.
var ErrDamaged = errors.New("the store contained a damaged skill")

// attempts is how often [Retry] tries an operation.
const attempts = 5

// Retry repeats an operation while another process changes the scope, and once if the store turned out to be damaged.
// The files are what the error names if that does not end.
func Retry[T any](files string, operation func() (T, error)) (result T, err error) {
	repaired := false
	for n := 1; n <= attempts; n++ {
		result, err = operation()
		switch {
		case errors.Is(err, ErrDamaged) && !repaired:
			repaired = true
		case errors.Is(err, ErrGone) && n < attempts:
		case !errors.Is(err, ErrChanged):
			return result, err
		}
	}
	return result, diag.Errorf(diag.Conflict, "another process keeps changing %s", files).
		WithHint("wait for the process to finish, then run the command again")
}

// stageOthers stages links, removals and files.
func (w *Workspace) stageOthers(tx *txn.Tx, c *Change, next *state) error {
	for _, at := range c.removals {
		if err := tx.Remove(at); err != nil {
			return err
		}
	}
	for _, at := range slices.Sorted(maps.Keys(c.links)) {
		if err := tx.StageLink(at, c.links[at]); err != nil {
			return err
		}
	}
	if err := tx.StageFile(w.Rel(w.Scope.State()), next.encode(w.Scope.Root, w.machine.key()), 0o644); err != nil {
		return err
	}
	for _, at := range slices.Sorted(maps.Keys(c.files)) {
		if err := tx.StageFile(at, c.files[at], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// withSkillFile returns the inventory with the given bytes as SKILL.md.
func withSkillFile(inv bundle.Inventory, data []byte) bundle.Inventory {
	out := slices.Clone(inv)
	for i := range out {
		if out[i].Path == skill.File {
			out[i].Size, out[i].SHA256 = int64(len(data)), sha256.Sum256(data)
		}
	}
	return out
}

// source identifies a tree in the state: its pristine digest and its alias.
func (t Tree) source() string {
	if t.Alias == "" {
		return t.Digest
	}
	return t.Digest + " " + t.Alias
}

// stageFile adds a file to the change unless it has these bytes.
func (c *Change) stageFile(at string, before, after []byte) {
	if before == nil || !bytes.Equal(before, after) {
		c.files[at] = after
	}
}
