package skillpm

import (
	"context"
	"maps"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/provider"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/workspace"
)

// Signing says which signatures a verb asks for besides those of the policies and of the lock.
type Signing struct {
	Require bool     // every pack must be signed by somebody who is trusted
	Keys    []string // files of keys that are trusted besides those of the configuration and of policies
	Accept  []string // packs that may be signed by somebody else than before, or by nobody
}

// options puts what is asked for into the provider's options.
func (s Signing) options(m *workspace.Machine, o provider.Options) (provider.Options, error) {
	if len(s.Keys) > 0 && !s.Require && len(s.Accept) == 0 {
		return o, diag.Errorf(diag.Usage, "--key says whose signatures count: give --require-signature as well")
	}
	o.Signed = s.Require
	for _, file := range s.Keys {
		o.Keys = append(o.Keys, m.Abs(file))
	}
	for _, name := range s.Accept {
		id, err := source.ParseID(name)
		if err != nil {
			return o, err
		}
		o.Accept = append(o.Accept, id)
	}
	return o, nil
}

// admit holds what is to be in force against policies and signers. Whoever takes packs away need not have the others
// admitted that stay as they are: else two that a policy has come to refuse would keep each other.
func (w *work) admit(ctx context.Context, t *target, l *workspace.Layout, c *workspace.Change, takesAway bool) error {
	placed := map[source.ID]bool{}
	for _, tree := range c.Place {
		placed[tree.Pack] = true
	}
	packs := l.Packs
	if takesAway {
		packs = w.brought(l, c)
	}
	err := w.provider.Admit(ctx, t.Solution, provider.Standing{
		Manifest: t.manifest, Packs: packs, Placed: placed,
		Linked: func(id source.ID) bool { return l.Linked[id] != nil },
	})
	t.Warnings = append(t.Warnings, w.provider.Notes()...)
	if err != nil {
		return err
	}
	for id, p := range t.Lock.Packs {
		if l.Packs[id] != nil && l.Linked[id] == nil {
			l.Packs[id] = p
		}
	}
	return nil
}

// brought returns the packs of which a change brings something: a skill, or another entry of the lock.
func (w *work) brought(l *workspace.Layout, c *workspace.Change) map[source.ID]*project.LockedPack {
	packs := map[source.ID]*project.LockedPack{}
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
func (w *work) admitLocked(ctx context.Context, sol *provider.Solution, trees map[source.ID]bool) ([]string, error) {
	packs := maps.Clone(w.Lock.Packs)
	maps.DeleteFunc(packs, func(id source.ID, _ *project.LockedPack) bool { return !trees[id] })
	err := w.provider.Admit(ctx, sol, provider.Standing{Manifest: w.Manifest, Packs: packs, Placed: trees, Linked: func(source.ID) bool { return false }})
	return w.provider.Notes(), err
}
