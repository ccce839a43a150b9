package provider

import (
	"context"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// parallelOffers is how many packs are asked for at once.
const parallelOffers = 8

// offer is what a registry has of a pack, on its way or there.
type offer struct {
	done     chan struct{} // closed when the rest is there
	registry registry.Registry
	versions []registry.Version
	err      error
}

// expect begins to ask for packs that will be needed, so that the answers come while others are thought about.
func (pr *Provider) expect(ctx context.Context, deps []pack.Dependency) {
	for _, d := range deps {
		at := Place(d)
		if _, locked := pr.locked(d.ID, at); locked && pr.settled(d.ID, at) || pr.options.Frozen {
			continue
		}
		switch {
		case d.Ref == nil:
			pr.ask(ctx, d.ID)
		case remote(*d.Ref):
			pr.visit(pack.WithSkills(ctx, d.Skills), at, *d.Ref)
		}
	}
}

// Expect begins to ask for packs and to look at places, whatever the lock says of them.
func (pr *Provider) Expect(ctx context.Context, deps []pack.Dependency) {
	pr.requirements(deps)
	for _, d := range deps {
		if d.Ref == nil {
			pr.ask(ctx, d.ID)
		} else {
			pr.visit(pack.WithSkills(ctx, d.Skills), Place(d), *d.Ref)
		}
	}
}

// Offered lists the versions of what is required of a pack, whatever its range and the lock say.
func (pr *Provider) Offered(ctx context.Context, d pack.Dependency) ([]resolve.Version, error) {
	if d.Ref == nil {
		return pr.namedVersions(ctx, d.ID)
	}
	pr.requirements([]pack.Dependency{d})
	return pr.placeVersions(ctx, d.ID, Place(d), *d.Ref)
}

// Known is Offered without asking anybody: no versions where nobody was asked before.
func (pr *Provider) Known(ctx context.Context, d pack.Dependency) ([]resolve.Version, error) {
	asked := pr.offers[d.ID] != nil
	if d.Ref != nil {
		asked = pr.visits[Place(d)] != nil
	}
	if !asked {
		return nil, nil
	}
	return pr.Offered(ctx, d)
}

// ask begins to ask the registry that answers for a pack, once.
func (pr *Provider) ask(ctx context.Context, id pack.ID) *offer {
	if o, ok := pr.offers[id]; ok {
		return o
	}
	o := &offer{done: make(chan struct{})}
	pr.offers[id] = o
	locked := ""
	if p, ok := pr.lock.Packs[id]; ok && !pr.moved[id] {
		locked = p.Source
	}
	go func() {
		defer close(o.done)
		select {
		case pr.asking <- struct{}{}:
			defer func() { <-pr.asking }()
		case <-ctx.Done():
			o.err = ctx.Err()
			return
		}
		if o.registry, o.err = pr.findLocked(ctx, id, locked); o.err == nil {
			o.versions, o.err = o.registry.Versions(ctx, id)
		}
	}()
	return o
}

// namedVersions lists the versions of a pack that is found by its name.
func (pr *Provider) namedVersions(ctx context.Context, id pack.ID) ([]resolve.Version, error) {
	o := pr.ask(ctx, id)
	<-o.done
	if o.err != nil {
		return nil, o.err
	}
	return pr.offered(ctx, id, o)
}

// Find returns the registry that answers for a pack.
func (pr *Provider) Find(ctx context.Context, id pack.ID) (registry.Registry, error) {
	if o, ok := pr.offers[id]; ok {
		<-o.done
		if o.registry != nil {
			return o.registry, nil
		}
		return nil, o.err
	}
	locked := ""
	if p, ok := pr.lock.Packs[id]; ok && !pr.moved[id] {
		locked = p.Source
	}
	return pr.findLocked(ctx, id, locked)
}

// findLocked returns the registry that answers for a pack which is locked at a place, or "".
func (pr *Provider) findLocked(ctx context.Context, id pack.ID, locked string) (registry.Registry, error) {
	if workspace.Placeless(locked) {
		return pr.lockedAt(ctx, id)
	}
	return pr.registries.Find(ctx, id, locked)
}
