package provider

import (
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/resolve"
	"github.com/skillpm/skillpm/pkg/source"
)

// visit is what a place that a requirement names has to offer, on its way or there: its releases, or the one pack that
// is there.
type visit struct {
	done     chan struct{} // closed when the rest is there
	versions []resolve.Version
	pack     *source.Pack
	err      error
}

// visit begins to look at a place, once.
func (pr *Provider) visit(ctx context.Context, at string, ref source.Ref) *visit {
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
		v.versions, v.pack, v.err = pr.look(ctx, ref)
	}()
	return v
}

// look lists the release tags of a place that was named without one; else, and where there are none, it opens what is
// there.
func (pr *Provider) look(ctx context.Context, ref source.Ref) ([]resolve.Version, *source.Pack, error) {
	if open(ref) {
		from, err := pr.from(ref)
		if err != nil {
			return nil, nil, err
		}
		tags, err := from.Versions(ctx, ref)
		if err != nil {
			return nil, nil, err
		}
		versions := make([]resolve.Version, len(tags))
		for i, tag := range tags {
			versions[i] = resolve.Version{Version: tag}
		}
		if len(versions) > 0 {
			return versions, nil, nil
		}
	}
	p, err := pr.openPlace(ctx, ref)
	return nil, p, err
}

// open reports whether a place was named without saying what of it is meant, so that its releases are chosen from.
func open(ref source.Ref) bool {
	return ref.Rev == "" && ref.Digest == "" && ref.Kind != source.KindPath
}

// placeVersions lists the versions of a place.
func (pr *Provider) placeVersions(ctx context.Context, id source.ID, at string, ref source.Ref) ([]resolve.Version, error) {
	v := pr.visit(source.WithSkills(ctx, pr.direct[id].Skills), at, ref)
	<-v.done
	if v.err != nil {
		return nil, v.err
	}
	if v.pack == nil {
		return pr.agedAt(ctx, ref, slices.Clone(v.versions), nil)
	}
	if err := pr.remember(id, at, ref, v.pack); err != nil {
		return nil, err
	}
	return pr.agedAt(ctx, ref, []resolve.Version{{Version: v.pack.Version}}, v.pack)
}
