package skillpm

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/packsearch"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// OfferOptions are the options of [Client.Offers].
type OfferOptions struct {
	Scope    string // install there; "" means the project, or the user if there is no project
	Registry string // list only this registry
	Offline  bool   // use no network
}

// Offers are the packs that can be installed by name.
type Offers struct {
	Packs    []OfferedPack
	Unlisted []string // registries that cannot list their packs, or are unreachable
}

// OfferedPack is a pack that can be installed by name.
type OfferedPack struct {
	Name, Version, Description string
	Skills                     int
	Demo                       bool // it comes with skillpm, to try commands without a registry
	PackDenial
}

// Names returns the names of the packs, sorted.
func (o *Offers) Names() (names []string) {
	for _, p := range o.Packs {
		names = append(names, p.Name)
	}
	return names
}

// Offers lists the packs of the registries that an installation by name would find: only those of the registry that
// their owner is bound to, and none that several registries have. It downloads no packs.
func (c *Client) Offers(ctx context.Context, o OfferOptions) (*Offers, error) {
	defer c.Progress(Event{Done: true})
	w, err := c.searchScope()
	if o.Scope != "" {
		w, err = c.Machine.Open(o.Scope, true)
	}
	if err != nil {
		return nil, err
	}
	s, err := c.searcherFor(ctx, w, SearchOptions{Registry: o.Registry, Offline: o.Offline})
	if err != nil {
		return nil, err
	}
	found := map[string]*offer{}
	offers := &Offers{}
	for _, p := range s.registries {
		if err := s.addOffers(ctx, p, o.Offline, o.Registry != "", found); err != nil {
			offers.Unlisted = append(offers.Unlisted, p.name)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if one := found[name]; !one.ambiguous {
			if one.mark(s.denied); one.Denied == "" {
				offers.Packs = append(offers.Packs, one.OfferedPack)
			}
		}
	}
	return offers, nil
}

// offer is a pack of the best registry that has it.
type offer struct {
	OfferedPack
	names     []string // of its skills
	rank      int      // of the registry
	ambiguous bool     // several configured registries have it, so that an installation by name fails
}

// mark adds what the policies deny of the pack.
func (o *offer) mark(denied *denials) {
	id, err := pack.ParseID(o.Name)
	if denied == nil || err != nil {
		return
	}
	o.PackDenial = packDenial(o.names, func(name string) string { return denied.nameDenial(name, id) })
}

// addOffers adds the packs of a registry that an installation by name would find there: all if it is the only one.
func (s *searcher) addOffers(
	ctx context.Context, p *searchedIndex, cached, isOnly bool, found map[string]*offer,
) error {
	err := s.catalog(ctx, p, cached)
	if err != nil && !cached && s.catalog(ctx, p, true) == nil {
		err = nil
	}
	if err != nil {
		return err
	}
	for e, err := range limitEntries(p.packs, maxOffered) {
		if err != nil {
			return err
		}
		if !isOnly && !s.resolvesIn(p, e.Name) {
			continue
		}
		before := found[e.Name]
		if before != nil && before.rank > p.rank() {
			continue
		}
		found[e.Name] = newOffer(searchedPack(e), p.rank(), before)
		if id, err := pack.ParseID(e.Name); err == nil {
			found[e.Name].Demo = registry.IsDemo(id, p.url)
		}
	}
	return nil
}

// maxOffered limits the packs of one registry: nobody picks from a longer list.
const maxOffered = 1000

func limitEntries(list iter.Seq2[index.CatalogEntry, error], limit int) iter.Seq2[index.CatalogEntry, error] {
	return func(yield func(index.CatalogEntry, error) bool) {
		n := 0
		for e, err := range list {
			if n++; n > limit || !yield(e, err) {
				return
			}
		}
	}
}

func newOffer(p packsearch.Pack, rank int, before *offer) *offer {
	o := &offer{rank: rank, names: skillNamesIn(p), ambiguous: before != nil && before.rank == rank}
	o.Name, o.Version, o.Description, o.Skills = p.Name, p.Version, p.Description, len(p.Skills)
	if o.Description == "" && len(p.Skills) > 0 {
		o.Description = cmp.Or(p.Skills[0].Description, p.Skills[0].Name)
	}
	return o
}

// resolvesIn reports whether an installation looks up a pack in a registry: the one that its owner is bound to, or else
// any but a prefix of an OCI registry next to others.
func (s *searcher) resolvesIn(p *searchedIndex, name string) bool {
	owner, _, _ := strings.Cut(name, "/")
	if bound := s.Registries.BoundTo(owner); bound != "" {
		return bound == registry.Canonical(p.url)
	}
	return registry.IsBuiltIn(p.url) || s.configured == 1 || registry.KindOf(p.url) == "index"
}
