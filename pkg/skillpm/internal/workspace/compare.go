package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Change is the difference between what a scope holds and what it should hold.
type Change struct {
	Place map[string]Tree // directories to write, by path below the root
	// installed skills that somebody edited and that stay as they are, because nobody wants them otherwise
	Edited []Edit
	keep   map[string]Tree // directories that are right already, or stay
	link   map[string]string
	remove []string          // entries of skillpm's own to remove
	saved  map[string]string // edited directories that will be replaced or removed -> where a copy of each goes
	files  map[string][]byte // files to write, by path below the root
	// of what is right by its hash, and not by what the state says: the state should remember it
	looks map[string]treeState

	Left []Left // what should change and may not, where the options say Repair
}

// Left is an entry that stays as it is.
type Left struct {
	Path string // below the root
	Err  error  // why, nil for one that the options except
}

// Empty reports whether there is nothing to do.
func (c *Change) Empty() bool {
	return len(c.Place) == 0 && len(c.link) == 0 && len(c.remove) == 0 && len(c.files) == 0
}

// CompareOptions say how the disk is looked at.
type CompareOptions struct {
	Hash   bool // hash installed trees instead of trusting fingerprints
	Force  bool // replace trees that were edited
	Moved  bool // with Force: only where something else belongs than was installed
	Strict bool // an edit is an error even where nobody wants to replace it

	// Repair has entries that may not be replaced left as they are, instead of giving up because of them, and links of
	// skillpm's removed that nothing accounts for.
	Repair bool
	Except map[string]bool // with Repair: entries that are left alone, because what belongs there can't be had
}

// Compare works out what has to change on disk. What skillpm did not write is a conflict, and what somebody edited and
// would be replaced or removed is an [EditedError]: nothing of anybody's is lost.
func (w *Workspace) Compare(l *Layout, o CompareOptions) (*Change, error) {
	c := &Change{
		Place: map[string]Tree{}, keep: make(map[string]Tree, len(l.trees)), link: map[string]string{},
		files: map[string][]byte{},
		looks: map[string]treeState{}, saved: map[string]string{},
	}
	var lost []Edit
	for _, at := range w.unlikeRecorded(c, l, o) {
		if o.Except[at] {
			c.Left = append(c.Left, Left{Path: at})
			continue
		}
		edit, err := w.compareTree(at, l.trees[at], c, o)
		if c.leave(at, err, o) {
			continue
		} else if err != nil {
			return nil, err
		}
		if edit != nil {
			lost = append(lost, *edit)
		}
	}
	for _, at := range w.missingLinks(l) {
		target := l.links[at]
		if err := w.mayReplace(at); c.leave(at, err, o) {
			continue
		} else if err != nil {
			return nil, err
		}
		c.link[at] = target
	}
	left, err := w.leftovers(c, l, o)
	if err != nil {
		return nil, err
	}
	lost = append(lost, left...)
	if o.Repair {
		w.repair(c, l, lost)
	} else if len(lost) > 0 {
		return nil, &EditedError{Edits: lost}
	}
	return c, nil
}

// leave notes an entry that may not be replaced, if the options are to leave it.
func (c *Change) leave(at string, err error, o CompareOptions) bool {
	if !o.Repair || diag.CodeOf(err) != diag.Conflict {
		return false
	}
	delete(c.Place, at)
	c.Left = append(c.Left, Left{Path: at, Err: err})
	return true
}

// repair leaves what was edited, and has links removed that lead to nothing that is installed.
func (w *Workspace) repair(c *Change, l *Layout, lost []Edit) {
	for _, edit := range slices.Concat(lost, c.Edited) {
		c.Left = append(c.Left, Left{Path: edit.Path, Err: &EditedError{Edits: []Edit{edit}}})
	}
	for _, stray := range w.strayLinks(l) {
		if !slices.Contains(c.remove, stray.Path) {
			c.remove = append(c.remove, stray.Path)
		}
	}
}

// unlikeRecorded returns the directories that have to be looked at more closely, sorted. Those that look as they were
// recorded and are to stay so it adds to what is kept.
func (w *Workspace) unlikeRecorded(c *Change, l *Layout, o CompareOptions) []string {
	own, seen := w.ownTrees(), w.scanned()
	var rest []string
	for at, t := range l.trees {
		if !o.Hash && !o.Except[at] && seen.trees[at] && own[at].Source == t.source() {
			c.keep[at] = t
		} else {
			rest = append(rest, at)
		}
	}
	slices.Sort(rest)
	return rest
}

// missingLinks returns the links that are not there, or not as they should be, sorted.
func (w *Workspace) missingLinks(l *Layout) []string {
	seen := w.scanned()
	var rest []string
	for at, target := range l.links {
		if (!seen.links[at] || w.state.Links[at] != target) && !leads(w.Scope.Abs(at), target) {
			rest = append(rest, at)
		}
	}
	slices.Sort(rest)
	return rest
}

// without returns the keys of a map that another does not have, sorted.
func without[A, B any](m map[string]A, other map[string]B) []string {
	var keys []string
	for k := range m {
		if _, ok := other[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// compareTree adds to the change what has to be done for the directory at path to hold what it should. It returns the
// edit that would be lost by that, if there is one.
func (w *Workspace) compareTree(at string, t Tree, c *Change, o CompareOptions) (*Edit, error) {
	known, ours := w.ownTrees()[at]
	dir := w.Scope.Abs(at)
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Place[at] = t
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		c.Place[at] = t
		return nil, w.mayReplace(at)
	}
	now := lookAt(dir) // before it is hashed, so that no edit is missed
	got, err := bundle.Sum(os.DirFS(w.Scope.Root), at)
	if err == nil && w.machine.is(got, t) {
		if state := (treeState{Digest: got.Digest(), Source: t.source(), look: now}); !ours || !state.equal(known) {
			c.looks[at] = state
		}
		c.keep[at] = t
		return nil, nil
	}
	if err == nil && (ours && got.Digest() == known.Digest || w.machine.part(got, t)) {
		c.Place[at] = t
		if holdsWork(dir) {
			c.saved[at] = w.savedAs(at, nil, now)
		}
		return nil, nil
	}
	if !ours && !pathx.ContainsStrict(w.Scope.Dir(), dir) && !o.Force {
		return nil, notOurs(at)
	}
	was := t
	if ours {
		was = w.recorded(at, known)
	}
	edit := w.edit(at, was, got, err)
	stays := was.source() == t.source() && ours
	switch {
	case o.Force && !(o.Moved && stays):
		c.Place[at] = t
		c.saved[at] = w.savedAs(at, got, now)
	case stays && !o.Strict:
		c.keep[at] = t
		c.Edited = append(c.Edited, edit)
	default:
		return &edit, nil
	}
	return nil, nil
}

// is reports whether files are those that a tree has once it is installed.
func (m *Machine) is(got bundle.Inventory, t Tree) bool {
	if t.Alias == "" {
		return got.Digest() == t.Digest
	}
	want, _, err := m.expected(t)
	return err == nil && got.Digest() == want.Digest()
}

// part reports whether files are those of an installed tree with some missing, or with other modes.
func (m *Machine) part(got bundle.Inventory, t Tree) bool {
	want, _, err := m.expected(t)
	return err == nil && subset(got, want)
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
		WithHint("move it away, or install the pack's skill under another name: --skill %s --as OTHER-NAME",
			path.Base(at))
}

// leftovers finds what skillpm put there and no longer belongs. It returns the edits that would be lost by removing it.
func (w *Workspace) leftovers(c *Change, l *Layout, o CompareOptions) (lost []Edit, err error) {
	own := w.ownTrees()
	for _, at := range without(own, l.trees) {
		dir := w.Scope.Abs(at)
		_, linked := l.links[at]
		if _, err := os.Lstat(dir); !linked && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if !w.asRecorded(at) {
			now := lookAt(dir)
			if got, err := bundle.Sum(os.DirFS(w.Scope.Root), at); err != nil || got.Digest() != own[at].Digest {
				if !o.Force {
					lost = append(lost, w.edit(at, w.recorded(at, own[at]), got, err))
					continue
				}
				c.saved[at] = w.savedAs(at, got, now)
			} else if holdsWork(dir) {
				c.saved[at] = w.savedAs(at, nil, now)
			}
		}
		if !linked {
			c.remove = append(c.remove, at)
		}
	}
	if o.Force && !o.Moved {
		w.removeStrangers(c, l)
	}
	links := w.ownLinks(l.Dirs)
	for _, at := range without(links, l.links) {
		if _, isTree := l.trees[at]; !isTree && leads(w.Scope.Abs(at), links[at]) {
			c.remove = append(c.remove, at)
		}
	}
	return lost, nil
}

// holdsOnly reports whether there is nothing in a directory but some entries: it is that of a pack which goes.
func (w *Workspace) holdsOnly(at string, entries []string) bool {
	other := errors.New("something else")
	err := filepath.WalkDir(w.Scope.Abs(at), func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(entries, w.Rel(file)) && d.IsDir():
			return fs.SkipDir
		case slices.Contains(entries, w.Rel(file)), d.IsDir():
			return nil
		}
		return other
	})
	return err == nil
}

// removeStrangers adds the removal of what is among the installed packs and nobody knows. What the store does not have
// either is saved.
func (w *Workspace) removeStrangers(c *Change, l *Layout) {
	for _, stranger := range w.strangers(l) {
		at := stranger.Path
		if slices.Contains(c.remove, at) {
			continue
		}
		known := w.holdsOnly(at, c.remove)
		c.remove = append(c.remove, at)
		if known { // each of them was looked at
			continue
		}
		got, err := bundle.Sum(os.DirFS(w.Scope.Root), at)
		if s, storeErr := w.machine.Store(); err != nil || storeErr != nil || !s.Has(got.Digest()) {
			c.saved[at] = w.savedAs(at, got, lookAt(w.Scope.Abs(at)))
		}
	}
}

// asRecorded reports whether a tree that the state has looks as it did when it was recorded.
func (w *Workspace) asRecorded(at string) bool { return w.scanned().trees[at] }

// ownTrees returns the directories that are skillpm's: those that the state has, and where there is no state those of
// the lock and their copies under aliases, of which nothing but the digest is known.
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
		w.addAliases(w.lockTrees)
	}
	return w.lockTrees
}

// addAliases adds the copies under aliases that manifest and lock lead to, where it is known what is in them.
func (w *Workspace) addAliases(own map[string]treeState) {
	l, err := w.Installed()
	if err != nil {
		return
	}
	for at, t := range l.trees {
		if t.Alias == "" || !pathx.ContainsStrict(w.Scope.Links(), w.Scope.Abs(at)) {
			continue
		}
		if digest, err := w.expectedDigest(t); err == nil {
			own[at] = treeState{Digest: digest, Source: t.source()}
		}
	}
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
