package skillpm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/scope"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/txn"
)

// change is the difference between what a scope holds and what it should hold.
type change struct {
	place  map[string]tree // directories to write
	keep   map[string]tree // directories that are right already
	link   map[string]string
	remove []string          // entries of skillpm's own to remove
	files  map[string][]byte // files to write, by path below the root
	// restate says that what is right was found by hashing: the state should remember it.
	restate bool
}

// empty reports whether there is nothing to do.
func (c *change) empty() bool {
	return len(c.place) == 0 && len(c.link) == 0 && len(c.remove) == 0 && len(c.files) == 0
}

// compareOptions says how the disk is looked at.
type compareOptions struct {
	hash  bool // hash installed trees instead of trusting fingerprints
	force bool // replace trees that were edited
}

// compare works out what has to change on disk. What skillpm did not write, and installed files that were edited, are
// conflict errors: nothing of anybody's is lost.
func (w *workspace) compare(l *layout, o compareOptions) (*change, error) {
	c := &change{place: map[string]tree{}, keep: map[string]tree{}, link: map[string]string{}, files: map[string][]byte{}}
	for _, at := range slices.Sorted(maps.Keys(l.trees)) {
		right, err := w.treeIsRight(at, l.trees[at], o)
		if err != nil {
			return nil, err
		}
		if right {
			c.keep[at] = l.trees[at]
			c.restate = c.restate || w.state.Trees[at].Source != l.trees[at].source()
		} else {
			c.place[at] = l.trees[at]
		}
	}
	for _, at := range slices.Sorted(maps.Keys(l.links)) {
		if target, err := os.Readlink(w.scope.Abs(at)); err == nil && target == l.links[at] {
			continue
		}
		if err := w.mayReplace(at); err != nil {
			return nil, err
		}
		c.link[at] = l.links[at]
	}
	return c, w.leftovers(c, l, o)
}

// treeIsRight reports whether the directory at path holds what it should. One that may not be replaced is an error.
func (w *workspace) treeIsRight(at string, t tree, o compareOptions) (bool, error) {
	dir := w.scope.Abs(at)
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, w.mayReplace(at)
	}
	known, ours := w.ownTrees()[at]
	if ours && !o.hash && known.Source == t.source() && known.matches(dir) {
		return true, nil
	}
	got, err := bundle.Sum(os.DirFS(w.scope.Root), at)
	if err != nil && !o.force {
		return false, w.edited(at, err.Error())
	}
	want, _, wantErr := w.client.expected(t)
	if wantErr == nil && err == nil && got.Digest() == want.Digest() {
		return true, nil
	}
	if o.force || ours && got.Digest() == known.Digest || wantErr == nil && subset(got, want) {
		return false, nil
	}
	return false, w.edited(at, "")
}

// subset reports whether every file of a is in b with the same content: a is b with files missing, or other modes.
func subset(a, b bundle.Inventory) bool {
	for _, e := range a {
		f, ok := b.Find(e.Path)
		if !ok || f.SHA256 != e.SHA256 {
			return false
		}
	}
	return true
}

// edited is the error for an installed directory that somebody changed.
func (w *workspace) edited(at, why string) error {
	if why != "" {
		why = ": " + why
	}
	if !within(w.scope.Dir(), w.scope.Abs(at)) {
		if _, ours := w.state.Trees[at]; !ours {
			return notOurs(at)
		}
	}
	return diag.Errorf(diag.Conflict, "%s was changed since it was installed%s", at, why).
		WithHint("copy it to a skill of your own with another name to keep it, or repeat the command with --force to give it up")
}

// mayReplace returns an error unless the entry at path is absent or skillpm's own.
func (w *workspace) mayReplace(at string) error {
	_, err := os.Lstat(w.scope.Abs(at))
	if errors.Is(err, fs.ErrNotExist) || err == nil && w.owns(at) {
		return nil
	}
	if err != nil {
		return err
	}
	return notOurs(at)
}

func notOurs(at string) error {
	return diag.Errorf(diag.Conflict, "%s exists and was not put there by skillpm; it stays as it is", at).
		WithHint("move it away, or install the pack's skill under another name: --skill %s --as OTHER-NAME", path.Base(at))
}

// leftovers finds what skillpm put there and no longer belongs.
func (w *workspace) leftovers(c *change, l *layout, o compareOptions) error {
	own := w.ownTrees()
	for _, at := range slices.Sorted(maps.Keys(own)) {
		if _, wanted := l.trees[at]; wanted {
			continue
		}
		dir := w.scope.Abs(at)
		if _, linked := l.links[at]; !linked {
			if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		known := own[at]
		if !known.matches(dir) && !o.force {
			if got, err := bundle.Sum(os.DirFS(w.scope.Root), at); err != nil || got.Digest() != known.Digest {
				return w.edited(at, "")
			}
		}
		if _, linked := l.links[at]; !linked {
			c.remove = append(c.remove, at)
		}
	}
	if o.force {
		for _, stranger := range w.strangers(l) {
			if !slices.Contains(c.remove, stranger.Path) {
				c.remove = append(c.remove, stranger.Path)
			}
		}
	}
	links := w.ownLinks(l.dirs)
	for _, at := range slices.Sorted(maps.Keys(links)) {
		_, isLink := l.links[at]
		_, isTree := l.trees[at]
		if target, err := os.Readlink(w.scope.Abs(at)); err == nil && !isLink && !isTree && target == links[at] {
			c.remove = append(c.remove, at)
		}
	}
	return nil
}

// ownTrees returns the directories that are skillpm's: those that the state has, and where there is no state those of the
// lock, of which nothing but the digest is known.
func (w *workspace) ownTrees() map[string]treeState {
	if len(w.state.Trees) > 0 {
		return w.state.Trees
	}
	if w.lockTrees == nil {
		w.lockTrees = map[string]treeState{}
		for id, p := range w.lock.Packs {
			for name, digest := range p.Skills {
				w.lockTrees[w.rel(w.scope.PluginSkill(id, name))] = treeState{Digest: digest}
			}
		}
	}
	return w.lockTrees
}

// ownLinks returns the links that are skillpm's: those that the state has, and where there is no state those in agents'
// directories that lead to what skillpm installs.
func (w *workspace) ownLinks(dirs []AgentDir) map[string]string {
	if len(w.state.Links) > 0 {
		return w.state.Links
	}
	links := map[string]string{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(w.scope.Abs(dir.real))
		if err != nil {
			continue // there is none
		}
		for _, e := range entries {
			at := path.Join(dir.real, e.Name())
			if target, err := os.Readlink(w.scope.Abs(at)); err == nil && w.owns(at) {
				links[at] = target
			}
		}
	}
	return links
}

// apply carries a change out in one transaction, with the state that describes the result.
func (w *workspace) apply(ctx context.Context, c *change, l *layout, t *target, o compareOptions) (err error) {
	unlock, err := txn.Lock(ctx, w.scope.LockFile())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	recovered, err := txn.Recover(w.txnOptions())
	if err != nil {
		return err
	}
	if changed, err := w.changed(); err != nil {
		return err
	} else if changed || recovered {
		return errChanged
	}
	tx, err := txn.Begin(w.txnOptions())
	if err != nil {
		return err
	}
	defer tx.Abort()
	next, err := w.stageTrees(ctx, tx, c)
	if err != nil {
		return err
	}
	maps.Copy(next.Links, l.links)
	next.Places = w.placesAfter(t)
	if err := w.stageRest(tx, c, next); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.stillSo(c, l, o); err != nil {
		return err
	}
	return tx.Commit()
}

// stillSo looks at the disk again just before the commit: downloading took time, in which somebody may have written a
// skill of their own where one was to be placed.
func (w *workspace) stillSo(c *change, l *layout, o compareOptions) error {
	now, err := w.compare(l, o)
	if err != nil {
		return err
	}
	same := slices.Equal(now.remove, c.remove) && maps.Equal(now.place, c.place) && maps.Equal(now.link, c.link)
	if !same {
		return errChanged
	}
	return nil
}

// errChanged says that another process changed manifest or lock while this one was working.
var errChanged = errors.New("manifest or lock changed meanwhile")

// errDamaged says that the store had a damaged tree, which it has thrown away: fetching it again may help.
var errDamaged = errors.New("the store was damaged")

// stageTrees fills the staging directories, several at a time, and returns the state that will hold.
func (w *workspace) stageTrees(ctx context.Context, tx *txn.Tx, c *change) (*state, error) {
	next := newState()
	for at, t := range c.keep {
		known, ok := w.state.Trees[at]
		if !ok || known.Source != t.source() || !known.matches(w.scope.Abs(at)) {
			inv, _, err := w.client.expected(t)
			if err != nil {
				return nil, err
			}
			known = treeState{Digest: inv.Digest(), Source: t.source(), Fingerprint: fingerprint(w.scope.Abs(at))}
		}
		next.Trees[at] = known
	}
	places := slices.Sorted(maps.Keys(c.place))
	states := make([]treeState, len(places))
	staged := make([]string, len(places))
	for i, at := range places {
		dir, err := tx.StageDir(at)
		if err != nil {
			return nil, err
		}
		staged[i] = dir
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i, at := range places {
		group.Go(func() (err error) {
			states[i], err = w.client.materialise(ctx, c.place[at], staged[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		if damaged := (*bundle.MismatchError)(nil); errors.As(err, &damaged) {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		return nil, err
	}
	for i, at := range places {
		next.Trees[at] = states[i]
	}
	return next, nil
}

// materialise writes a tree to dir, under its alias if it has one.
func (c *Client) materialise(ctx context.Context, t tree, dir string) (treeState, error) {
	s, err := c.openStore()
	if err != nil {
		return treeState{}, err
	}
	if err := s.Materialise(ctx, t.digest, dir); err != nil {
		return treeState{}, err
	}
	if err := checkName(dir, t); err != nil {
		return treeState{}, err
	}
	digest := t.digest
	if t.alias != "" {
		inv, data, err := c.expected(t)
		if err != nil {
			return treeState{}, err
		}
		file := filepath.Join(dir, skill.File)
		if err := os.Remove(file); err != nil { // never write through what may share its bytes with the store
			return treeState{}, err
		}
		mode := fs.FileMode(0o644)
		if e, ok := inv.Find(skill.File); ok && e.Executable {
			mode = 0o755
		}
		if err := os.WriteFile(file, data, mode); err != nil {
			return treeState{}, err
		}
		digest = inv.Digest()
	}
	return treeState{Digest: digest, Source: t.source(), Fingerprint: fingerprint(dir)}, nil
}

// checkName refuses a skill that would take another name than its own in hosts that go by the frontmatter: the name of
// another skill, or one that is no single word in a path or a line. What is only not legal stays as its author wrote it.
func checkName(dir string, t tree) error {
	doc, _, err := skill.Load(os.DirFS(dir), ".")
	if err != nil {
		return fmt.Errorf("%s: skill %s: %w", t.pack, t.skill, err)
	}
	name := doc.Name()
	if name == t.skill || !skill.LegalName(name) && !strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) }) {
		return nil
	}
	return diag.Errorf(diag.Invalid, "%s: the skill %s declares the name %q", t.pack, t.skill, name).
		WithHint("its author has to give the directory and the frontmatter one name")
}

// stageRest stages links, removals and files.
func (w *workspace) stageRest(tx *txn.Tx, c *change, next *state) error {
	for _, at := range c.remove {
		if err := tx.Remove(at); err != nil {
			return err
		}
	}
	for _, at := range slices.Sorted(maps.Keys(c.link)) {
		if err := tx.StageLink(at, c.link[at]); err != nil {
			return err
		}
	}
	if err := tx.StageFile(w.rel(w.scope.State()), next.encode(w.scope.Root, w.client.machineKey()), 0o644); err != nil {
		return err
	}
	if w.scope.Kind == scope.KindProject {
		if _, err := os.Lstat(w.scope.Ignore()); errors.Is(err, fs.ErrNotExist) {
			if err := tx.StageFile(w.rel(w.scope.Ignore()), []byte(scope.IgnoreText), 0o644); err != nil {
				return err
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(c.files)) {
		if err := tx.StageFile(at, c.files[at], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// renamed returns the inventory with SKILL.md's entry changed to the given bytes.
func renamed(inv bundle.Inventory, data []byte) bundle.Inventory {
	out := slices.Clone(inv)
	for i := range out {
		if out[i].Path == skill.File {
			out[i].Size, out[i].SHA256 = int64(len(data)), sha256.Sum256(data)
		}
	}
	return out
}

// source is what the state remembers a tree by: its pristine digest and its alias.
func (t tree) source() string { return strings.TrimSpace(t.digest + " " + t.alias) }

// stageFile records a file's new bytes unless it has them already.
func (c *change) stageFile(at string, before, after []byte) {
	if before == nil || !bytes.Equal(before, after) {
		c.files[at] = after
	}
}
