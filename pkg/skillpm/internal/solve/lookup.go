package solve

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// parallelLookups is how many registries and sources are asked at once.
const parallelLookups = 8

// lookupKey is a pack that a registry is asked for, or the text of a source.
type lookupKey struct {
	pack   pack.ID
	source string
}

// lookup is a question to a registry or a source: on its way until done is closed, then answered.
type lookup struct {
	done     chan struct{}
	registry registry.Registry  // that answers for a pack
	versions []registry.Version // the releases
	pack     *pack.Pack         // the one pack at a source without releases
	err      error
}

// start begins to ask, unless that was asked before.
func (b *Backend) start(ctx context.Context, key lookupKey, ask func(*lookup) error) *lookup {
	if l, ok := b.lookups[key]; ok {
		return l
	}
	l := &lookup{done: make(chan struct{})}
	b.lookups[key] = l
	bug.Go(func() {
		defer close(l.done)
		select {
		case b.slots <- struct{}{}:
			defer func() { <-b.slots }()
			l.err = bug.Catch(func() error { return ask(l) })
		case <-ctx.Done():
			l.err = ctx.Err()
		}
	})
	return l
}

// askRegistry begins to ask the registry that answers for a pack.
func (b *Backend) askRegistry(ctx context.Context, id pack.ID) *lookup {
	locked, isNamed := b.lockedSource(id), b.isNamed(id)
	return b.start(ctx, lookupKey{pack: id}, func(l *lookup) (err error) {
		if locked == "" && !isNamed {
			l.registry, err = b.Fetcher.Registries.FindRequired(ctx, id)
		} else {
			l.registry, err = b.Fetcher.Registries.Find(ctx, id, locked)
		}
		if err == nil {
			l.versions, err = l.registry.Versions(ctx, id)
		}
		return err
	})
}

// askSource begins to list the releases of a source that is named without one. If it has none, or is named with a
// revision, it opens what is there.
func (b *Backend) askSource(ctx context.Context, d pack.Dependency) *lookup {
	ref := *d.Ref
	ctx = pack.WithSkills(ctx, d.Skills)
	var known *pack.Pack
	if len(d.Skills) == 0 {
		known = b.complete[SourceText(d)]
	}
	return b.start(ctx, lookupKey{source: SourceText(d)}, func(l *lookup) (err error) {
		if hasReleases(ref) {
			if l.versions, err = b.Fetcher.Releases(ctx, ref); err != nil || len(l.versions) > 0 {
				return err
			}
		}
		if l.pack = known; known == nil {
			if l.pack, err = b.Fetcher.Open(ctx, ref); err != nil {
				return err
			}
		}
		if fetch.IsOCI(ref.Kind) {
			l.versions = b.Fetcher.Release(ctx, ref, l.pack.Version)
		} else {
			l.versions = []registry.Version{{Version: l.pack.Version, Source: ref.Source()}}
		}
		return nil
	})
}

// prefetch begins to ask about packs that will be needed, so that the answers come while others are considered.
func (b *Backend) prefetch(ctx context.Context, deps []pack.Dependency) {
	for _, d := range deps {
		src := SourceText(d)
		if _, locked := b.locked(d.ID, src); locked && b.final(d.ID, src) || b.Frozen {
			continue
		}
		if d.Ref == nil || fetch.Remote(*d.Ref) {
			b.ask(ctx, d)
		}
	}
}

func (b *Backend) ask(ctx context.Context, d pack.Dependency) *lookup {
	if d.Ref == nil {
		return b.askRegistry(ctx, d.ID)
	}
	return b.askSource(ctx, d)
}

// Prefetch begins to ask about dependencies, whatever the lock has of them.
func (b *Backend) Prefetch(ctx context.Context, deps []pack.Dependency) {
	b.requirements(deps)
	for _, d := range deps {
		b.ask(ctx, d)
	}
}

// Offered lists the versions of a dependency, whatever its range and the lock say. It leaves out releases that are
// known to be unusable.
func (b *Backend) Offered(ctx context.Context, d pack.Dependency) ([]resolve.Version, error) {
	b.requirements([]pack.Dependency{d})
	versions, err := b.availableVersions(ctx, d.ID, SourceText(d))
	return slices.DeleteFunc(versions, func(v resolve.Version) bool {
		return strings.HasPrefix(v.Unavailable, notUsable)
	}), err
}

// Known is Offered without asking: it returns no versions of what was not asked for before.
func (b *Backend) Known(ctx context.Context, d pack.Dependency) ([]resolve.Version, error) {
	key := lookupKey{source: SourceText(d)}
	if d.Ref == nil {
		key.pack = d.ID
	}
	if b.lookups[key] == nil {
		return nil, nil
	}
	return b.Offered(ctx, d)
}

// availableVersions lists the versions of a pack that is found by name, or at a source.
func (b *Backend) availableVersions(ctx context.Context, id pack.ID, src string) ([]resolve.Version, error) {
	if src == "" {
		l := b.askRegistry(ctx, id)
		if <-l.done; l.err != nil {
			return nil, l.err
		}
		return b.withholdNamed(ctx, id, l)
	}
	ref := b.refs[src]
	l := b.askSource(ctx, pack.Dependency{ID: id, Ref: &ref, Skills: b.direct[id].Skills})
	if <-l.done; l.err != nil {
		return nil, l.err
	}
	b.listed[id] = l.versions
	if l.pack != nil {
		if err := b.remember(id, src, ref, l.pack); err != nil {
			return nil, err
		}
	}
	versions, err := b.withholdPlaced(ctx, id, ref, l)
	b.withholdUnusable(id, src, versions)
	return versions, err
}

// Find returns the registry that answers for a pack.
func (b *Backend) Find(ctx context.Context, id pack.ID) (registry.Registry, error) {
	if l, ok := b.lookups[lookupKey{pack: id}]; ok {
		<-l.done
		if l.registry != nil {
			return l.registry, nil
		}
		return nil, l.err
	}
	return b.Fetcher.Registries.Find(ctx, id, b.lockedSource(id))
}

// lockedSource returns where a pack is looked up because it is locked there, "" if its name decides. New versions never
// come from a source that the user's binding excludes; the administrator's binding excludes even the locked one.
func (b *Backend) lockedSource(id pack.ID) string {
	p, ok := b.Previous.Packs[id]
	if _, enforced := b.Fetcher.Registries.Enforced(id.Owner); !ok || b.marks[id].moved ||
		!enforced && !b.Fetcher.Registries.Overridden() && b.leavesBinding(id, p.Source) {
		return ""
	}
	return p.Source
}

// versions returns the versions of a pack that was asked for, nil if it was not.
func (b *Backend) versions(id pack.ID) []registry.Version {
	if versions, ok := b.listed[id]; ok {
		return versions
	}
	l, ok := b.lookups[lookupKey{pack: id}]
	if !ok {
		return nil
	}
	<-l.done
	return l.versions
}

// Offer returns what the registry or the source has of one version of a pack. It is false if nobody was asked, or knows
// the version.
func (b *Backend) Offer(id pack.ID, version string) (registry.Version, bool) {
	versions := b.versions(id)
	i := slices.IndexFunc(versions, func(v registry.Version) bool { return v.Version == version })
	if i < 0 {
		return registry.Version{}, false
	}
	return versions[i], true
}

// publishTime returns when a registry says that a version was published.
func publishTime(v registry.Version) (time.Time, bool) {
	since, err := time.Parse(time.RFC3339, v.Published)
	return since, err == nil
}
