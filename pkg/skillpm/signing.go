package skillpm

import (
	"context"
	"maps"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// Signing sets the signatures that an operation requires, in addition to those of the policies and the lockfile.
type Signing struct {
	Require bool     // every pack needs a trusted signature
	Keys    []string // files of keys that are trusted besides those of the settings and of policies
	Accept  []string // packs whose signer may change, or be missing
}

// admission returns the options in the form that admission takes.
func (s Signing) admission(m *workspace.Machine) (o admission.Signing, err error) {
	if len(s.Keys) > 0 && !s.Require && len(s.Accept) == 0 {
		return o, diag.Errorf(diag.Usage, "--key requires --require-signature or --accept-signer")
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

// admit checks what a plan installs against policies and signers, except for the files of skills, which need not be on
// this machine yet. An operation that takes packs away checks only what it brings: otherwise two packs that a policy
// denies by now could not be removed one after the other.
func (in *installer) admit(ctx context.Context, res *resolution, p *plan) error {
	l := p.layout
	p.candidates = in.Candidates(res.manifest, l, p.change)
	p.candidates.IsNewlyLinked = in.IsNewlyLinked
	if cmd := in.request.command; cmd == commandRemove || cmd == commandUnlink {
		p.candidates.Packs = in.incoming(l, p.change)
	}
	err := in.Admission.Admit(ctx, res.Solution, p.candidates)
	res.Warnings = append(res.Warnings, in.policyNotes()...)
	if err != nil {
		return err
	}
	for id, locked := range res.Lock.Packs {
		if l.Packs[id] != nil && l.Linked[id] == nil {
			l.Packs[id] = locked
		}
	}
	return nil
}

// admitFiles checks the files of candidates against the policies.
func (in *installer) admitFiles(
	ctx context.Context, c admission.Candidates, l *workspace.Layout,
) ([]string, error) {
	if !in.Admission.NeedsFiles() {
		return nil, nil
	}
	store, err := in.client.Machine.Store()
	if err != nil {
		return nil, err
	}
	err = in.Admission.AdmitFiles(ctx, c, base.SkillFiles(in.Workspace, store, l))
	return in.policyNotes(), err
}

// incoming returns the packs of which a change writes a skill, or which are new in the lockfile.
func (in *installer) incoming(l *workspace.Layout, c *workspace.Change) map[pack.ID]*pack.LockedPack {
	packs := map[pack.ID]*pack.LockedPack{}
	for _, tree := range c.Trees {
		packs[tree.Pack] = l.Packs[tree.Pack]
	}
	for id, p := range l.Packs {
		if was, ok := in.Lock.Packs[id]; l.Linked[id] == nil && (!ok || !p.Equal(was)) {
			packs[id] = p
		}
		for name := range p.Skills {
			if c.Links(in.SkillAt(id, name)) {
				packs[id] = p
			}
		}
	}
	return packs
}

// admitLocked is admit and admitFiles for packs of the lockfile whose trees are to be written.
func (in *installer) admitLocked(ctx context.Context, written map[pack.ID]bool) ([]string, error) {
	packs := maps.Clone(in.Lock.Packs)
	maps.DeleteFunc(packs, func(id pack.ID, _ *pack.LockedPack) bool { return !written[id] })
	l, err := in.InstalledLayout()
	if err != nil {
		return nil, err
	}
	c := admission.Candidates{
		Manifest: in.Manifest, Packs: packs, Placed: written, Linked: admission.NotLinked, Names: base.SkillNames(l),
	}
	if err := in.Admission.Admit(ctx, lockedResolution(in.Workspace).Solution, c); err != nil {
		return in.policyNotes(), err
	}
	notes := in.policyNotes()
	more, err := in.admitFiles(ctx, c, l)
	return append(notes, more...), err
}
