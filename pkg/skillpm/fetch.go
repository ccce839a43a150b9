package skillpm

import (
	"context"
	"io/fs"
	"iter"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// FetchOptions configure [Client.Fetch].
type FetchOptions struct {
	Pack     string   // a reference in one of the forms that [pack.Parse] reads
	Skills   []string // of the pack; none means all
	Registry string   // look names up here only
	Offline  bool     // use no network
	Scope    string   // scope.KindProject or scope.KindUser; "" means the project
}

// FetchedPack is a pack whose skills are in the store but need not be installed.
type FetchedPack struct {
	Pack    string
	Version string
	Source  string // in the format of the lockfile
	Named   bool   // it is the named pack, and not one that it requires
	Skills  []FetchedSkill
}

// FetchedSkill is a skill in the store.
type FetchedSkill struct {
	Name  string
	Tree  string // its digest
	Files fs.FS  // with SKILL.md at the root; reads are verified against the digest
}

// Fetch puts what an installation of a pack would bring, with its dependencies, into the store, and changes nothing
// else: so that a pack can be reviewed before it may be installed. Policies about sources, names, ages and signatures
// apply; policies about files don't.
func (c *Client) Fetch(ctx context.Context, o FetchOptions) ([]FetchedPack, error) {
	defer c.Progress(Event{Done: true})
	w, err := c.Machine.Open(o.Scope, true)
	if err != nil {
		return nil, err
	}
	in, err := c.installer(ctx, w, request{ChangeOptions: ChangeOptions{Registry: o.Registry, Offline: o.Offline}})
	if err != nil {
		return nil, err
	}
	res, err := in.resolve(ctx, InstallOptions{Packs: []string{o.Pack}, Skills: o.Skills})
	if err != nil {
		return nil, err
	}
	packs := res.newPacks(w.Lock)
	s := admission.Candidates{Manifest: res.manifest, Packs: packs, Linked: admission.NotLinked, RefusesDenied: true}
	if err := in.Admission.Admit(ctx, res.Solution, s); err != nil {
		return nil, err
	}
	if err := in.FetchMissing(ctx, res.manifest, res.Solution, treesOf(packs)); err != nil {
		return nil, err
	}
	return c.fetched(packs, res.requested)
}

// treesOf returns the trees of locked packs.
func treesOf(packs map[pack.ID]*pack.LockedPack) iter.Seq[workspace.Tree] {
	return func(yield func(workspace.Tree) bool) {
		for id, p := range packs {
			for name, digest := range p.Skills {
				if !yield(workspace.Tree{Pack: id, Skill: name, Digest: digest}) {
					return
				}
			}
		}
	}
}

// newPacks returns the packs that a resolution is about: those that the call names, and those that the lockfile does
// not have in this version.
func (r *resolution) newPacks(before *pack.Lock) map[pack.ID]*pack.LockedPack {
	packs := maps.Clone(r.Lock.Packs)
	maps.DeleteFunc(packs, func(id pack.ID, p *pack.LockedPack) bool {
		was := before.Packs[id]
		return !slices.Contains(r.requested, id) && was != nil && was.Integrity == p.Integrity &&
			was.Version == p.Version
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
	for _, id := range sortedIDs(packs) {
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
