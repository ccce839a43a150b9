package provider

import (
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// visit is what a place that a requirement names has to offer, on its way or there: its releases, or the one pack that
// is there.
type visit struct {
	done     chan struct{} // closed when the rest is there
	versions []resolve.Version
	status   oci.Status // what the place says of its versions
	pack     *pack.Pack
	err      error
}

// visit begins to look at a place, once.
func (pr *Provider) visit(ctx context.Context, at string, ref pack.Ref) *visit {
	if v, ok := pr.visits[at]; ok {
		return v
	}
	v := &visit{done: make(chan struct{})}
	pr.visits[at] = v
	go func() {
		defer close(v.done)
		select {
		case pr.asking <- struct{}{}:
			defer func() { <-pr.asking }()
		case <-ctx.Done():
			v.err = ctx.Err()
			return
		}
		v.err = pr.look(ctx, ref, v)
	}()
	return v
}

// look lists the release tags of a place that was named without one; else, and where there are none, it opens what is
// there.
func (pr *Provider) look(ctx context.Context, ref pack.Ref, v *visit) error {
	if open(ref) {
		tags, status, err := pr.listing(ctx, ref)
		if err != nil {
			return err
		}
		v.status = status
		for _, tag := range tags {
			reason, yanked := status.Yanked[tag]
			v.versions = append(v.versions, resolve.Version{Version: tag, Yanked: yanked, Reason: reason})
		}
		if len(tags) > 0 {
			return nil
		}
	}
	var err error
	if v.pack, err = pr.openPlace(ctx, ref); err == nil && isOCI(ref.Kind) && !open(ref) {
		if from, err := pr.from(ref); err == nil {
			if l, ok := from.(lister); ok {
				v.status, _ = l.Status(ctx, anchored(pr.root, ref)) // only warnings come of it
			}
		}
	}
	return err
}

// lister is a fetcher whose places can say which of their versions were withdrawn.
type lister interface {
	Listing(ctx context.Context, ref pack.Ref) ([]string, oci.Status, error)
	Status(ctx context.Context, ref pack.Ref) (oci.Status, error)
}

// isOCI reports whether places of a kind can say so.
func isOCI(kind pack.Kind) bool {
	return kind == pack.KindOCI || kind == pack.KindLayout || kind == pack.KindLocal || kind == pack.KindEmbedded
}

// listing lists the releases of a place, and what it says of them.
func (pr *Provider) listing(ctx context.Context, ref pack.Ref) ([]string, oci.Status, error) {
	from, err := pr.from(ref)
	if err != nil {
		return nil, oci.Status{}, err
	}
	if l, ok := from.(lister); ok && isOCI(ref.Kind) {
		return l.Listing(ctx, anchored(pr.root, ref))
	}
	tags, err := from.Versions(ctx, anchored(pr.root, ref))
	return tags, oci.Status{}, err
}

// Listing lists the releases of a place, and what it says of them.
func (g guarded) Listing(ctx context.Context, ref pack.Ref) ([]string, oci.Status, error) {
	ctx = g.pr.watched(ctx, ref.Kind)
	if l, ok := g.next.(lister); ok {
		return l.Listing(ctx, ref)
	}
	tags, err := g.next.Versions(ctx, ref)
	return tags, oci.Status{}, err
}

// Status returns what a place says of its versions.
func (g guarded) Status(ctx context.Context, ref pack.Ref) (oci.Status, error) {
	if l, ok := g.next.(lister); ok {
		return l.Status(g.pr.watched(ctx, ref.Kind), ref)
	}
	return oci.Status{}, nil
}

// said turns what a place says of its versions into what registries say, so that both are heeded alike.
func said(at string, tags []string, status oci.Status) []registry.Version {
	versions := make([]registry.Version, len(tags))
	for i, tag := range tags {
		reason, yanked := status.Yanked[tag]
		versions[i] = registry.Version{Version: tag, Source: at, Yanked: yanked, Reason: reason, Deprecated: status.Deprecated}
	}
	return versions
}

// open reports whether a place was named without saying what of it is meant, so that its releases are chosen from.
func open(ref pack.Ref) bool {
	return ref.Rev == "" && ref.Digest == "" && ref.Kind != pack.KindPath
}

// placeVersions lists the versions of a place.
func (pr *Provider) placeVersions(ctx context.Context, id pack.ID, at string, ref pack.Ref) ([]resolve.Version, error) {
	v := pr.visit(pack.WithSkills(ctx, pr.direct[id].Skills), at, ref)
	<-v.done
	if v.err != nil {
		return nil, v.err
	}
	tags := make([]string, len(v.versions))
	for i := range v.versions {
		tags[i] = v.versions[i].Version
	}
	if v.pack != nil {
		tags = []string{v.pack.Version}
	}
	pr.placed[id] = said(ref.Source(), tags, v.status)
	if v.pack == nil {
		return pr.agedAt(ctx, id, ref, slices.Clone(v.versions), nil)
	}
	if err := pr.remember(id, at, ref, v.pack); err != nil {
		return nil, err
	}
	return pr.agedAt(ctx, id, ref, []resolve.Version{{Version: v.pack.Version}}, v.pack)
}
