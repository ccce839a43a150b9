package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/scope"
)

// Change is the difference between what a scope holds and what it should hold.
type Change struct {
	Place  map[string]Tree // directories to write, by path below the root
	keep   map[string]Tree // directories that are right already
	link   map[string]string
	remove []string             // entries of skillpm's own to remove
	files  map[string][]byte    // files to write, by path below the root
	looks  map[string]treeState // of what is right by its hash, and not by what the state says: the state should remember it
}

// Empty reports whether there is nothing to do.
func (c *Change) Empty() bool {
	return len(c.Place) == 0 && len(c.link) == 0 && len(c.remove) == 0 && len(c.files) == 0
}

// CompareOptions say how the disk is looked at.
type CompareOptions struct {
	Hash  bool // hash installed trees instead of trusting fingerprints
	Force bool // replace trees that were edited
}

// Compare works out what has to change on disk. What skillpm did not write, and installed files that were edited, are
// conflict errors: nothing of anybody's is lost.
func (w *Workspace) Compare(l *Layout, o CompareOptions) (*Change, error) {
	c := &Change{
		Place: map[string]Tree{}, keep: map[string]Tree{}, link: map[string]string{}, files: map[string][]byte{},
		looks: map[string]treeState{},
	}
	seen := w.glanced()
	for _, at := range slices.Sorted(maps.Keys(l.trees)) {
		right, err := w.treeIsRight(at, l.trees[at], c, o)
		if err != nil {
			return nil, err
		}
		if right {
			c.keep[at] = l.trees[at]
		} else {
			c.Place[at] = l.trees[at]
		}
	}
	for _, at := range slices.Sorted(maps.Keys(l.links)) {
		target := l.links[at]
		if seen.links[at] && w.state.Links[at] == target || leads(w.Scope.Abs(at), target) {
			continue
		}
		if err := w.mayReplace(at); err != nil {
			return nil, err
		}
		c.link[at] = target
	}
	return c, w.leftovers(c, l, o)
}

// treeIsRight reports whether the directory at path holds what it should. One that may not be replaced is an error.
func (w *Workspace) treeIsRight(at string, t Tree, c *Change, o CompareOptions) (bool, error) {
	known, ours := w.ownTrees()[at]
	if ours && !o.Hash && known.Source == t.source() && w.asRecorded(at) {
		return true, nil
	}
	dir := w.Scope.Abs(at)
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, w.mayReplace(at)
	}
	now := lookAt(dir) // before it is hashed, so that no edit is missed
	got, err := bundle.Sum(os.DirFS(w.Scope.Root), at)
	if err != nil && !o.Force {
		return false, w.edited(at, err.Error())
	}
	want, _, wantErr := w.machine.expected(t)
	if wantErr == nil && err == nil && got.Digest() == want.Digest() {
		if state := (treeState{Digest: want.Digest(), Source: t.source(), look: now}); !ours || !state.equal(known) {
			c.looks[at] = state
		}
		return true, nil
	}
	if o.Force || ours && got.Digest() == known.Digest || wantErr == nil && subset(got, want) {
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
func (w *Workspace) edited(at, why string) error {
	if why != "" {
		why = ": " + why
	}
	if !scope.Within(w.Scope.Dir(), w.Scope.Abs(at)) {
		if _, ours := w.state.Trees[at]; !ours {
			return notOurs(at)
		}
	}
	return diag.Errorf(diag.Conflict, "%s was changed since it was installed%s", at, why).
		WithHint("copy it to a skill of your own with another name to keep it, or repeat the command with --force to give it up")
}

// mayReplace returns an error unless the entry at path is absent or skillpm's own.
func (w *Workspace) mayReplace(at string) error {
	_, err := os.Lstat(w.Scope.Abs(at))
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
func (w *Workspace) leftovers(c *Change, l *Layout, o CompareOptions) error {
	own := w.ownTrees()
	for _, at := range slices.Sorted(maps.Keys(own)) {
		if _, wanted := l.trees[at]; wanted {
			continue
		}
		dir := w.Scope.Abs(at)
		if _, linked := l.links[at]; !linked {
			if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		known := own[at]
		if !w.asRecorded(at) && !o.Force {
			if got, err := bundle.Sum(os.DirFS(w.Scope.Root), at); err != nil || got.Digest() != known.Digest {
				return w.edited(at, "")
			}
		}
		if _, linked := l.links[at]; !linked {
			c.remove = append(c.remove, at)
		}
	}
	if o.Force {
		for _, stranger := range w.strangers(l) {
			if !slices.Contains(c.remove, stranger.Path) {
				c.remove = append(c.remove, stranger.Path)
			}
		}
	}
	links := w.ownLinks(l.Dirs)
	for _, at := range slices.Sorted(maps.Keys(links)) {
		_, isLink := l.links[at]
		_, isTree := l.trees[at]
		if !isLink && !isTree && leads(w.Scope.Abs(at), links[at]) {
			c.remove = append(c.remove, at)
		}
	}
	return nil
}

// asRecorded reports whether a tree that the state has looks as it did when it was recorded.
func (w *Workspace) asRecorded(at string) bool { return w.glanced().trees[at] }

// ownTrees returns the directories that are skillpm's: those that the state has, and where there is no state those of the
// lock, of which nothing but the digest is known.
func (w *Workspace) ownTrees() map[string]treeState {
	if w.state.found {
		return w.state.Trees
	}
	if w.lockTrees == nil {
		w.lockTrees = map[string]treeState{}
		for id, p := range w.Lock.Packs {
			for name, digest := range p.Skills {
				w.lockTrees[w.SkillAt(id, name)] = treeState{Digest: digest}
			}
		}
	}
	return w.lockTrees
}

// ownLinks returns the links that are skillpm's: those that the state has, and where there is no state those in agents'
// directories that lead to what skillpm installs.
func (w *Workspace) ownLinks(dirs []AgentDir) map[string]string {
	if w.state.found {
		return w.state.Links
	}
	links := map[string]string{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(w.Scope.Abs(dir.real))
		if err != nil {
			continue // there is none
		}
		for _, e := range entries {
			at := path.Join(dir.real, e.Name())
			if target, err := os.Readlink(w.Scope.Abs(at)); err == nil && w.owns(at) {
				links[at] = target
			}
		}
	}
	return links
}
