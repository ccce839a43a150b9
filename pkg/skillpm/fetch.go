package skillpm

import (
	"context"
	"io/fs"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// FetchOptions say which pack to fetch.
type FetchOptions struct {
	Pack     string   // as install takes it: owner/name[@range], or a place
	Skills   []string // of the pack; none means all
	Registry string   // look names up here only
	Offline  bool     // use no network
	Scope    string   // scope.KindProject or scope.KindUser; "" means the project
}

// FetchedPack is a pack whose skills are in the store, and not installed.
type FetchedPack struct {
	Pack    string
	Version string
	Source  string // as a lock has it
	Named   bool   // it is the one that was asked for, and not one that it requires
	Skills  []FetchedSkill
}

// FetchedSkill is a skill in the store.
type FetchedSkill struct {
	Name  string
	Tree  string // its digest
	Files fs.FS  // with SKILL.md at the root; what is read is what the digest is of
}

// Fetch brings what an install of a pack would bring, with what it requires, into the store, and changes nothing else:
// for whoever has to look at a pack before it may be installed. What the policies say of places, names, ages and
// signatures is held to, and what they say of files is not asked.
func (c *Client) Fetch(ctx context.Context, o FetchOptions) ([]FetchedPack, error) {
	defer c.Progress(Event{Done: true})
	io := InstallOptions{
		Packs: []string{o.Pack}, Skills: o.Skills, Registry: o.Registry, Offline: o.Offline, Scope: o.Scope,
	}
	opened, err := c.Machine.Open(o.Scope, true)
	if err != nil {
		return nil, err
	}
	w, err := c.work(ctx, opened, io)
	if err != nil {
		return nil, err
	}
	t, err := w.resolve(ctx, io)
	if err != nil {
		return nil, err
	}
	packs := t.brings(w.Lock)
	s := admission.Candidates{Manifest: t.manifest, Packs: packs, Linked: admission.NotLinked}
	if err := w.Admission.Admit(ctx, t.Solution, s); err != nil {
		return nil, err
	}
	var trees []workspace.Tree
	for id, p := range packs {
		for name, digest := range p.Skills {
			trees = append(trees, workspace.Tree{Pack: id, Skill: name, Digest: digest})
		}
	}
	if err := w.FetchMissing(ctx, t.manifest, t.Solution, slices.Values(trees)); err != nil {
		return nil, err
	}
	return c.fetched(packs, t.asked)
}

// brings returns the packs that a target is about: those that the call named, and what comes with them that is not
// locked already.
func (t *target) brings(before *pack.Lock) map[pack.ID]*pack.LockedPack {
	packs := maps.Clone(t.Lock.Packs)
	maps.DeleteFunc(packs, func(id pack.ID, p *pack.LockedPack) bool {
		was := before.Packs[id]
		return !slices.Contains(t.asked, id) && was != nil && was.Integrity == p.Integrity && was.Version == p.Version
	})
	return packs
}

// fetched describes packs that are in the store.
func (c *Client) fetched(packs map[pack.ID]*pack.LockedPack, named []pack.ID) ([]FetchedPack, error) {
	store, err := c.Machine.Store()
	if err != nil {
		return nil, err
	}
	var list []FetchedPack
	for _, id := range slices.SortedFunc(maps.Keys(packs), pack.ID.Compare) {
		p := FetchedPack{
			Pack: id.String(), Version: packs[id].Version, Source: packs[id].Source, Named: slices.Contains(named, id),
		}
		for _, name := range slices.Sorted(maps.Keys(packs[id].Skills)) {
			files, err := store.FS(packs[id].Skills[name])
			if err != nil {
				return nil, err
			}
			p.Skills = append(p.Skills, FetchedSkill{Name: name, Tree: packs[id].Skills[name], Files: files})
		}
		list = append(list, p)
	}
	return list, nil
}
