package provider

import (
	"context"
	"fmt"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// withdrawn warns of a locked version that its registry has withdrawn since. It is for packs that are fetched: who has
// to go there anyway asks that, too. A registry that does not answer is no reason to fail.
func (pr *Provider) withdrawn(ctx context.Context, id pack.ID, p *pack.LockedPack) []string {
	if pr.options.Offline || isDirectory(p.Source) {
		return nil
	}
	if d, ok := pr.direct[id]; ok && d.Ref != nil {
		if !isOCI(d.Ref.Kind) {
			return nil
		}
		tags, status, err := pr.listing(ctx, *d.Ref)
		if err != nil {
			return nil
		}
		return pr.yanked(id, p.Version, said(p.Source, tags, status))
	}
	reg, err := pr.findLocked(ctx, id, p.Source)
	if err != nil {
		return nil
	}
	versions, err := reg.Versions(ctx, id)
	if err != nil {
		return nil
	}
	return pr.yanked(id, p.Version, versions)
}

// withdrawnOffer is withdrawn for a pack that was asked for already.
func (pr *Provider) withdrawnOffer(id pack.ID, p *pack.LockedPack) []string {
	if versions, ok := pr.placed[id]; ok {
		return pr.yanked(id, p.Version, versions)
	}
	o, ok := pr.offers[id]
	if !ok {
		return nil
	}
	<-o.done
	return pr.yanked(id, p.Version, o.versions)
}

// Offer returns what the registry, or the place, says of one version of a pack that it was asked for. It is false where
// nobody was asked, or nobody knows the version.
func (pr *Provider) Offer(id pack.ID, version string) (registry.Version, bool) {
	versions, ok := pr.placed[id]
	if o, asked := pr.offers[id]; asked && !ok {
		<-o.done
		versions = o.versions
	}
	for _, v := range versions {
		if v.Version == version {
			return v, true
		}
	}
	return registry.Version{}, false
}

// yanked says what can be done about a locked version that was withdrawn.
func (pr *Provider) yanked(id pack.ID, version string, versions []registry.Version) []string {
	if !slices.ContainsFunc(versions, func(v registry.Version) bool { return v.Version == version && v.Yanked }) {
		return nil
	}
	d, direct := pr.direct[id]
	others, fitting := false, false
	for _, v := range versions {
		if !v.Yanked {
			ok, err := pack.Allows(d, v.Version)
			others, fitting = true, fitting || !direct || err == nil && ok
		}
	}
	next := fmt.Sprintf("skillpm update %s chooses another", id)
	switch {
	case d.Ref != nil && !open(*d.Ref):
		next = fmt.Sprintf("skillpm.yaml names it, and skillpm update --latest %s takes another", id)
	case !others:
		next = "there is no other"
	case !fitting:
		next = fmt.Sprintf("the range %s in skillpm.yaml allows no other, skillpm update --latest %s goes beyond it", d.Constraint, id)
	case pr.freed[id]:
		next = "an update finds no other that fits"
	}
	return []string{fmt.Sprintf("%s %s is locked and was withdrawn: skillpm outdated %s says why, %s", id, version, id, next)}
}
