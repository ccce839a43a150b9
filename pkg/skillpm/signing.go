package skillpm

import (
	"context"
	"io/fs"
	"maps"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// Signing says which signatures a verb asks for besides those of the policies and of the lock.
type Signing struct {
	Require bool     // every pack must be signed by somebody who is trusted
	Keys    []string // files of keys that are trusted besides those of the configuration and of policies
	Accept  []string // packs that may be signed by somebody else than before, or by nobody
}

// admission returns the signing that admission requires.
func (s Signing) admission(m *workspace.Machine) (o admission.Signing, err error) {
	if len(s.Keys) > 0 && !s.Require && len(s.Accept) == 0 {
		return o, diag.Errorf(diag.Usage, "--key says whose signatures count: give --require-signature as well")
	}
	o.Require = s.Require
	for _, file := range s.Keys {
		o.Keys = append(o.Keys, m.Abs(file))
	}
	for _, name := range s.Accept {
		id, err := pack.ParseID(name)
		if err != nil {
			return o, err
		}
		o.Accept = append(o.Accept, id)
	}
	return o, nil
}

// admit holds what is to be in force against policies and signers, but for the files of skills, which may not be here
// yet. Whoever takes packs away need not have the others admitted that stay as they are: else two that a policy has
// come to refuse would keep each other.
func (w *work) admit(
	ctx context.Context, t *target, l *workspace.Layout, c *workspace.Change, takesAway bool,
) (admission.Candidates, error) {
	s := admission.Candidates{
		Manifest: t.manifest, Packs: l.Packs, Placed: map[pack.ID]bool{},
		Linked: func(id pack.ID) bool { return l.Linked[id] != nil },
	}
	for _, tree := range c.Place {
		s.Placed[tree.Pack] = true
	}
	if w.Admission.HasPolicies() {
		s.Names = namesIn(l)
	}
	if takesAway {
		s.Packs = w.brought(l, c)
	}
	err := w.Admission.Admit(ctx, t.Solution, s)
	t.Warnings = append(t.Warnings, w.notes()...)
	if err != nil {
		return s, err
	}
	for id, p := range t.Lock.Packs {
		if l.Packs[id] != nil && l.Linked[id] == nil {
			l.Packs[id] = p
		}
	}
	return s, nil
}

// namesIn returns the names that skills have in a layout.
func namesIn(l *workspace.Layout) map[admission.SkillOf]string {
	names := make(map[admission.SkillOf]string, len(l.Named))
	for _, n := range l.Named {
		names[admission.SkillOf{Pack: n.Pack, Skill: n.Skill}] = n.Link
	}
	return names
}

// admitFiles holds the files of what is to be in force against the policies: those of the store, of a directory that is
// linked, and where the store has them no more those that are installed. In a dry run some are nowhere yet.
func (w *work) admitFiles(ctx context.Context, s admission.Candidates, l *workspace.Layout) ([]string, error) {
	if !w.Admission.NeedsFiles() {
		return nil, nil
	}
	store, err := w.client.Machine.Store()
	if err != nil {
		return nil, err
	}
	err = w.Admission.AdmitFiles(ctx, s, func(id pack.ID, name, digest string) (fs.FS, error) {
		if linked := l.Linked[id]; linked != nil {
			return safefile.Dir(linked.Skills[name]), nil
		}
		fsys, err := store.FS(digest)
		if err == nil || diag.CodeOf(err) != diag.NotFound {
			return fsys, err
		}
		if dir := w.Scope.PluginSkill(id, name); w.SkillStatus(l, id, name).Installed {
			return safefile.Dir(dir), nil
		}
		return nil, nil
	})
	return w.notes(), err
}

// notes returns what policies that only observe have to say, which is recorded, too.
func (w *work) notes() []string {
	notes := w.Gate.Notes()
	w.noted(notes)
	return notes
}

// brought returns the packs of which a change brings something: a skill, or another entry of the lock.
func (w *work) brought(l *workspace.Layout, c *workspace.Change) map[pack.ID]*pack.LockedPack {
	packs := map[pack.ID]*pack.LockedPack{}
	for _, tree := range c.Place {
		packs[tree.Pack] = l.Packs[tree.Pack]
	}
	for id, p := range l.Packs {
		if was, ok := w.Lock.Packs[id]; l.Linked[id] == nil && (!ok || !p.Equal(was)) {
			packs[id] = p
		}
		for name := range p.Skills {
			if c.Links(w.SkillAt(id, name)) {
				packs[id] = p
			}
		}
	}
	return packs
}

// admitLocked is admit for what the lock has, of which trees are to be written.
func (w *work) admitLocked(ctx context.Context, sol *solve.Solution, trees map[pack.ID]bool) ([]string, error) {
	packs := maps.Clone(w.Lock.Packs)
	maps.DeleteFunc(packs, func(id pack.ID, _ *pack.LockedPack) bool { return !trees[id] })
	s := admission.Candidates{Manifest: w.Manifest, Packs: packs, Placed: trees, Linked: admission.NotLinked}
	l, err := w.Installed()
	if err != nil {
		return nil, err
	}
	s.Names = namesIn(l)
	if err := w.Admission.Admit(ctx, sol, s); err != nil {
		return w.notes(), err
	}
	notes := w.notes()
	more, err := w.admitFiles(ctx, s, l)
	return append(notes, more...), err
}
