package workspace

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// Denial returns why the policies of the scope deny a skill by its name, or for lack of an approval; nil if they do not. A denied skill stays in
// the lockfile, so that every user of a project has the same one, but no agent gets a link to it.
func (l *Layout) Denial(id pack.ID, skill string) error {
	return l.denied[pack.SkillKey{Pack: id, Skill: skill}]
}

// Withheld returns where agents would find the denied skills of the layout, sorted: links, copies, and the copies under
// aliases. Paths are relative to the root.
func (l *Layout) Withheld() []string { return slices.Sorted(maps.Keys(l.withheld)) }

// findDenied finds the skills of a layout that the policies of the scope deny by name, or that need an approval. A
// policy of another project does not count, because the scope would change with the directory that skillpm runs in.
func (w *Workspace) findDenied(l *Layout) {
	l.denied, l.withheld = map[pack.SkillKey]error{}, map[string]pack.SkillKey{}
	if w.Scope.Kind == scope.KindEnterprise {
		return // it is installed and not used
	}
	if w.guard == nil {
		w.guard = w.Guard("")
	}
	set := w.guard.Policies()
	byName, byApproval := slices.ContainsFunc(set, (*policy.Policy).RestrictsSkills), w.guard.RequiresApprovals()
	if !byName && !byApproval {
		return
	}
	for _, n := range l.Named {
		denial := set.Denial([]string{n.Skill, n.Link}, n.Pack.String())
		if denial == nil && byApproval {
			denial = w.unapproved(l, n)
		}
		if denial != nil {
			l.denied[pack.SkillKey{Pack: n.Pack, Skill: n.Skill}] = denial
			w.withhold(l, n)
		}
	}
	w.guard.SaveFacts()
}

// unapproved returns why an installed skill still needs an approval, nil if it does not. The approval of a version that
// is not installed yet is checked when it is installed.
func (w *Workspace) unapproved(l *Layout, n pack.NamedSkill) error {
	at := w.SkillAt(n.Pack, n.Skill)
	if p := l.Packs[n.Pack]; l.Linked[n.Pack] == nil &&
		(p == nil || w.isNew(at) || w.state.Trees[at].Digest != p.Skills[n.Skill]) {
		return nil
	}
	return w.guard.CheckApproved(context.Background(), enforce.Skill{
		Name: n.Skill, Alias: n.Link, Pack: n.Pack.String(), Dir: w.Scope.Abs(at),
	})
}

// withhold records where agents would find a denied skill.
func (w *Workspace) withhold(l *Layout, n pack.NamedSkill) {
	key := pack.SkillKey{Pack: n.Pack, Skill: n.Skill}
	for _, dir := range l.Dirs {
		l.withheld[path.Join(dir.real, n.Link)] = key
	}
	if l.Linked[n.Pack] != nil {
		l.withheld[w.SkillAt(n.Pack, n.Skill)] = key
	} else if n.Alias {
		l.withheld[w.Rel(w.Scope.Link(n.Link))] = key
	}
}

// isNew reports whether nothing is in the directory of a skill. A denied skill is not installed, but one that was
// installed before it was denied stays: only its links are removed.
func (w *Workspace) isNew(at string) bool {
	_, err := os.Lstat(w.Scope.Abs(at))
	return errors.Is(err, fs.ErrNotExist)
}

// reachable returns the entries of [Layout.Withheld] that exist and that skillpm created, with a skill for each.
func (w *Workspace) reachable(l *Layout) map[string]pack.SkillKey {
	found := map[string]pack.SkillKey{}
	for at, key := range l.withheld {
		if _, err := os.Lstat(w.Scope.Abs(at)); err == nil && w.owns(at) {
			found[at] = key
		}
	}
	return found
}

// deniedEntries finds links and copies through which agents still find denied skills.
func (w *Workspace) deniedEntries(l *Layout) []Problem {
	var problems []Problem
	found := w.reachable(l)
	for _, at := range slices.Sorted(maps.Keys(found)) {
		problems = append(problems, Problem{
			Kind: KindDenied, Path: at,
			Message: "agents still find the denied skill here: " + l.denied[found[at]].Error(),
		})
	}
	return problems
}

// RemoveDenied removes the links and copies through which agents find denied skills. It returns the paths that it
// removed, and those of copies with local edits, which it keeps.
func (w *Workspace) RemoveDenied(ctx context.Context) (removed, kept []string, err error) {
	l, err := w.InstalledLayout()
	if err != nil {
		return nil, nil, err
	}
	next := *w.state
	next.Links, next.Trees = maps.Clone(next.Links), maps.Clone(next.Trees)
	for _, at := range slices.Sorted(maps.Keys(w.reachable(l))) {
		if !isLink(w.Scope.Abs(at)) && !w.looksUnchanged(at) {
			got, err := bundle.Sum(os.DirFS(w.Scope.Root), at)
			if err != nil || got.Digest() != w.state.Trees[at].Digest {
				kept = append(kept, at)
				continue
			}
		}
		removed = append(removed, at)
		delete(next.Links, at)
		delete(next.Trees, at)
	}
	if len(removed) == 0 {
		return nil, kept, nil
	}
	c := &Change{removals: slices.Clone(removed), files: map[string][]byte{}}
	w.compareIgnores(c, l, nil)
	err = w.Transact(ctx, func(tx *txn.Tx) error {
		for _, at := range c.removals {
			if err := tx.Remove(at); err != nil {
				return err
			}
		}
		for at, data := range c.files {
			if err := tx.StageFile(at, data, 0o644); err != nil {
				return err
			}
		}
		if !w.state.found {
			return nil
		}
		return tx.StageFile(w.Rel(w.Scope.State()), next.encode(w.Scope.Root, w.machine.key()), 0o644)
	}, func() error { return nil })
	return removed, kept, err
}
