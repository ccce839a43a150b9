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
	"github.com/skillpm/skillpm/pkg/skill"
)

// Change is the plan that brings a scope to its layout: the difference between the desired and the actual content.
type Change struct {
	Trees map[string]Tree // directories to write, by path below the root
	// installed skills with local edits that stay, because the layout has no other version of them
	Edited    []Edit
	unchanged map[string]Tree // directories that are right, or stay
	links     map[string]string
	removals  []string          // entries to remove, which skillpm created
	backups   map[string]string // replaced or removed directories with local edits -> where a copy goes
	files     map[string][]byte // files to write, by path below the root
	committed []string          // directories of agents whose generated entries git tracks
	// the new states of directories that were hashed and are right
	rehashed map[string]treeState
	// the requirements of the skills in written directories
	requirements map[string]skill.Requirements

	Skipped []Skipped // with CompareOptions.Repair
}

// Skipped is an entry that stays as it is, although it differs from the layout.
type Skipped struct {
	Path string // below the root
	Err  error  // nil for one of CompareOptions.Except
}

// Empty reports whether there is nothing to do.
func (c *Change) Empty() bool {
	return len(c.Trees) == 0 && len(c.links) == 0 && len(c.removals) == 0 && len(c.files) == 0
}

// CompareOptions configure the comparison of the disk with a layout.
type CompareOptions struct {
	Hash      bool // hash installed trees instead of trusting fingerprints
	Force     bool // replace trees with local edits
	OnlyMoved bool // with Force: only if the layout has another version than the installed one
	Strict    bool // a local edit is an error even if nothing would replace it

	// KeepsOnlyOwn makes an edit that skillpm would keep an error if this machine has no state of the scope: it may be
	// from the author of a clone.
	KeepsOnlyOwn bool

	// Unlink are directories whose links are removed if the layout does not have them, also without a state that
	// records them, such as in a project that was moved.
	Unlink []AgentDir

	// Repair skips entries that may not be replaced, instead of failing, and removes links into skillpm's own
	// directories that the layout does not have.
	Repair bool
	Except map[string]bool // with Repair: entries to skip, because their content can't be fetched
}

// Compare computes the change that the layout needs. A file that skillpm did not create is a conflict, and local edits
// that the change would replace or remove are an [EditedError].
func (w *Workspace) Compare(l *Layout, o CompareOptions) (*Change, error) {
	c := &Change{
		Trees: map[string]Tree{}, unchanged: make(map[string]Tree, len(l.trees)), links: map[string]string{},
		files:    map[string][]byte{},
		rehashed: map[string]treeState{}, backups: map[string]string{},
	}
	var conflicts []Edit
	for _, at := range w.changedTrees(c, l, o) {
		if o.Except[at] {
			c.Skipped = append(c.Skipped, Skipped{Path: at})
			continue
		}
		edit, err := w.compareTree(at, l.trees[at], c, o)
		if c.skip(at, err, o) {
			continue
		} else if err != nil {
			return nil, err
		}
		if edit != nil {
			conflicts = append(conflicts, *edit)
		}
	}
	for _, at := range w.missingLinks(l) {
		target := l.links[at]
		if err := w.checkReplaceable(at); c.skip(at, err, o) {
			continue
		} else if err != nil {
			return nil, err
		}
		c.links[at] = target
	}
	conflictsOfRemovals, err := w.compareRemovals(c, l, o)
	if err != nil {
		return nil, err
	}
	conflicts = append(conflicts, conflictsOfRemovals...)
	if o.Repair {
		w.repair(c, l, conflicts)
	} else if len(conflicts) > 0 {
		return nil, &EditedError{Edits: conflicts}
	}
	w.compareIgnores(c, l, o.Unlink)
	return c, nil
}

// skip adds an entry that may not be replaced to the skipped ones, if the options ask for a repair.
func (c *Change) skip(at string, err error, o CompareOptions) bool {
	if !o.Repair || diag.CodeOf(err) != diag.Conflict {
		return false
	}
	delete(c.Trees, at)
	c.Skipped = append(c.Skipped, Skipped{Path: at, Err: err})
	return true
}

// repair skips entries with local edits, and removes links that lead to nothing that is installed.
func (w *Workspace) repair(c *Change, l *Layout, conflicts []Edit) {
	for _, edit := range slices.Concat(conflicts, c.Edited) {
		c.Skipped = append(c.Skipped, Skipped{Path: edit.Path, Err: &EditedError{Edits: []Edit{edit}}})
	}
	for _, stray := range w.strayLinks(l) {
		if !slices.Contains(c.removals, stray.Path) {
			c.removals = append(c.removals, stray.Path)
		}
	}
}

// changedTrees returns the directories that don't look as the state has them, sorted. It adds the others to the
// unchanged ones.
func (w *Workspace) changedTrees(c *Change, l *Layout, o CompareOptions) []string {
	own, seen := w.ownTrees(), w.scanResult()
	var rest []string
	for at, t := range l.trees {
		if !o.Hash && !o.Except[at] && seen.trees[at] && own[at].Source == t.source() {
			c.unchanged[at] = t
		} else {
			rest = append(rest, at)
		}
	}
	slices.Sort(rest)
	return rest
}

// missingLinks returns the links that don't exist or lead elsewhere, sorted.
func (w *Workspace) missingLinks(l *Layout) []string {
	seen := w.scanResult()
	var rest []string
	for at, target := range l.links {
		if (!seen.links[at] || w.state.Links[at] != target) && !isLinkTo(w.Scope.Abs(at), target) {
			rest = append(rest, at)
		}
	}
	slices.Sort(rest)
	return rest
}

// missingKeys returns the keys of a map that another does not have, sorted.
func missingKeys[A, B any](m map[string]A, other map[string]B) []string {
	var keys []string
	for k := range m {
		if _, ok := other[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// compareTree adds to the change what the directory at a path needs. It returns the local edit that this would lose, if
// there is one.
func (w *Workspace) compareTree(at string, t Tree, c *Change, o CompareOptions) (*Edit, error) {
	known, ours := w.ownTrees()[at]
	dir := w.Scope.Abs(at)
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Trees[at] = t
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		c.Trees[at] = t
		return nil, w.checkReplaceable(at)
	}
	current := fingerprintOf(dir, listEntries(dir)) // before hashing, so that a concurrent edit changes the fingerprint
	got, err := bundle.Sum(os.DirFS(w.Scope.Root), at)
	if err == nil && w.machine.matches(got, t) {
		if state := (treeState{Digest: got.Digest(), Source: t.source(), fingerprint: current}); !ours ||
			!state.equal(known) {
			c.rehashed[at] = state
		}
		c.unchanged[at] = t
		return nil, nil
	}
	if err == nil && (ours && got.Digest() == known.Digest || w.machine.isPart(got, t)) {
		c.Trees[at] = t
		if hasUserFiles(dir) {
			c.backups[at] = w.backupPath(at, nil, current)
		}
		return nil, nil
	}
	if !ours && !pathx.ContainsStrict(w.Scope.Dir(), dir) && !o.Force {
		return nil, notOursError(at)
	}
	was := t
	if ours {
		was = w.installedTree(at, known)
	}
	edit := w.edit(at, was, got, err)
	stays := was.source() == t.source() && ours
	switch {
	case o.Force && !(o.OnlyMoved && stays):
		c.Trees[at] = t
		c.backups[at] = w.backupPath(at, got, current)
	case stays && o.KeepsOnlyOwn && !w.state.found:
		return nil, diag.Errorf(diag.Integrity,
			"the files in %s differ from skillpm.lock, and skillpm did not install them on this machine", at).
			WithHint("show the differences with \"skillpm verify\"; " +
				"to replace the files and keep a copy of them, run: skillpm install --force")
	case stays && !o.Strict:
		c.unchanged[at] = t
		c.Edited = append(c.Edited, edit)
	default:
		return &edit, nil
	}
	return nil, nil
}

// matches reports whether files are those of an installed tree.
func (m *Machine) matches(got bundle.Inventory, t Tree) bool {
	if t.Alias == "" {
		return got.Digest() == t.Digest
	}
	want, _, err := m.expected(t)
	return err == nil && got.Digest() == want.Digest()
}

// isPart reports whether files are those of an installed tree with some missing, or with other modes.
func (m *Machine) isPart(got bundle.Inventory, t Tree) bool {
	want, _, err := m.expected(t)
	return err == nil && IsSubset(got, want)
}

// IsSubset reports whether every file of a is in b with the same content.
func IsSubset(a, b bundle.Inventory) bool {
	for _, e := range a {
		f, ok := b.Find(e.Path)
		if !ok || f.SHA256 != e.SHA256 {
			return false
		}
	}
	return true
}

// checkReplaceable returns an error unless the entry at a path does not exist or skillpm created it.
func (w *Workspace) checkReplaceable(at string) error {
	_, err := os.Lstat(w.Scope.Abs(at))
	if errors.Is(err, fs.ErrNotExist) || err == nil && w.owns(at) {
		return nil
	}
	if err != nil {
		return err
	}
	return notOursError(at)
}

func notOursError(at string) error {
	return diag.Errorf(diag.Conflict, "%s already exists, and skillpm did not create it", at).
		WithHint("move %s away, or use --skill %s --as OTHER-NAME to install the pack's skill under another name",
			at, path.Base(at))
}

// compareRemovals adds to the change what skillpm created and the layout does not have. It returns the local edits that
// this would lose.
func (w *Workspace) compareRemovals(c *Change, l *Layout, o CompareOptions) (conflicts []Edit, err error) {
	own := w.ownTrees()
	for _, at := range missingKeys(own, l.trees) {
		dir := w.Scope.Abs(at)
		_, linked := l.links[at]
		if _, err := os.Lstat(dir); !linked && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if !w.looksUnchanged(at) {
			current := fingerprintOf(dir, listEntries(dir))
			if got, err := bundle.Sum(os.DirFS(w.Scope.Root), at); err != nil || got.Digest() != own[at].Digest {
				if !o.Force {
					conflicts = append(conflicts, w.edit(at, w.installedTree(at, own[at]), got, err))
					continue
				}
				c.backups[at] = w.backupPath(at, got, current)
			} else if hasUserFiles(dir) {
				c.backups[at] = w.backupPath(at, nil, current)
			}
		}
		if !linked {
			c.removals = append(c.removals, at)
		}
	}
	if o.Force && !o.OnlyMoved {
		w.removeUnlisted(c, l)
	}
	links := w.ownLinks(append(slices.Clone(l.Dirs), o.Unlink...))
	for _, at := range missingKeys(links, l.links) {
		if _, isTree := l.trees[at]; !isTree && isLinkTo(w.Scope.Abs(at), links[at]) {
			c.removals = append(c.removals, at)
		}
	}
	return conflicts, nil
}

// containsOnly reports whether a directory has nothing in it but some entries.
func (w *Workspace) containsOnly(at string, entries []string) bool {
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

// removeUnlisted adds to the change the removal of unlisted entries among the installed packs. Those that the store
// does not have are backed up.
func (w *Workspace) removeUnlisted(c *Change, l *Layout) {
	for _, stranger := range w.unlistedEntries(l) {
		at := stranger.Path
		if slices.Contains(c.removals, at) {
			continue
		}
		known := w.containsOnly(at, c.removals)
		c.removals = append(c.removals, at)
		if known { // each entry was compared
			continue
		}
		got, err := bundle.Sum(os.DirFS(w.Scope.Root), at)
		if s, storeErr := w.machine.Store(); err != nil || storeErr != nil || !s.Has(got.Digest()) {
			dir := w.Scope.Abs(at)
			c.backups[at] = w.backupPath(at, got, fingerprintOf(dir, listEntries(dir)))
		}
	}
}

// looksUnchanged reports whether a tree of the state has the fingerprint that the state has.
func (w *Workspace) looksUnchanged(at string) bool { return w.scanResult().trees[at] }

// ownTrees returns the directories that skillpm created: those of the state or, without a state, those of the lockfile
// and their copies under aliases.
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

// addAliases adds the copies under aliases that follow from manifest and lockfile, if their content is known.
func (w *Workspace) addAliases(own map[string]treeState) {
	l, err := w.InstalledLayout()
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

// ownLinks returns the links that skillpm created: those of the state or, without a state, those in agents' directories
// that lead into skillpm's own directories.
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
