package skillpm

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/source"
)

// parallelFetches is how many packs are downloaded at once.
const parallelFetches = 4

// openPlace opens the pack at a place; path and layout directories are relative to root.
func (c *Client) openPlace(ctx context.Context, root string, ref source.Ref) (*source.Pack, error) {
	from, err := c.sources.of(ref.Kind, root)
	if err != nil {
		return nil, err
	}
	c.Progress(Event{Text: "looking at " + ref.Source()})
	p, err := from.Open(ctx, anchored(root, ref))
	if err != nil {
		return nil, err
	}
	if ref.Kind == source.KindLayout {
		p.Ref.URL = ref.URL
	}
	return p, nil
}

// anchored returns the reference with a layout's directory made absolute.
func anchored(root string, ref source.Ref) source.Ref {
	if ref.Kind == source.KindLayout && !filepath.IsAbs(filepath.FromSlash(ref.URL)) {
		ref.URL = filepath.Join(root, filepath.FromSlash(ref.URL))
	}
	return ref
}

// fetch puts the named skills of a pack into the store, unless they are there, and returns their digests. What the
// pack or the lock promised must be what arrives.
func (c *Client) fetch(ctx context.Context, w *world, p *source.Pack, skills []string, locked map[string]string) (map[string]string, error) {
	if err := w.reach(p.Ref); err != nil {
		return nil, err
	}
	from, err := c.sources.of(p.Ref.Kind, w.root)
	if err != nil {
		return nil, err
	}
	s, err := c.openStore()
	if err != nil {
		return nil, err
	}
	writer, err := s.Writer(bundle.DefaultLimits())
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	c.Progress(Event{Text: fmt.Sprintf("fetching %s %s from %s", p.ID, p.Version, p.Ref.Source())})
	pinned := *p
	pinned.Ref = anchored(w.root, p.Ref)
	if err := from.Fetch(ctx, &pinned, skills, writer); err != nil {
		return nil, fmt.Errorf("%s %s: %w", p.ID, p.Version, err)
	}
	got, err := writer.Commit(promised(p, skills, locked))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", p.ID, p.Version, err)
	}
	return got, nil
}

// promised returns the digests that the skills must have: the lock's, else those that the place gave.
func promised(p *source.Pack, skills []string, locked map[string]string) map[string]string {
	want := map[string]string{}
	for _, s := range p.Skills {
		if s.Tree != "" && (len(skills) == 0 || slices.Contains(skills, s.Name)) {
			want[s.Name] = s.Tree
		}
	}
	maps.Copy(want, locked)
	return want
}

// fetchMissing downloads what is to be placed and not in the store, several packs at a time.
func (w *workspace) fetchMissing(ctx context.Context, o InstallOptions, t *target, c *change) error {
	s, err := w.client.openStore()
	if err != nil {
		return err
	}
	missing := map[source.ID]bool{}
	for _, tree := range c.place {
		if !missing[tree.pack] && !s.Has(tree.digest) {
			missing[tree.pack] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	world, err := w.newWorld(ctx, o)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelFetches)
	for id := range missing {
		group.Go(func() error { return w.fetchLocked(ctx, world, id, t) })
	}
	return group.Wait()
}

// fetchLocked downloads one pack as the lock has it.
func (w *workspace) fetchLocked(ctx context.Context, world *world, id source.ID, t *target) error {
	entry := t.lock.Packs[id]
	p, ok := t.packs[id]
	if !ok {
		var err error
		if p, err = w.openLocked(ctx, world, id, t); err != nil {
			return fmt.Errorf("%s %s, as locked: %w", id, entry.Version, err)
		}
	}
	var names []string
	if entry.Partial {
		for name := range entry.Skills {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	_, err := w.client.fetch(ctx, world, p, names, entry.Skills)
	return err
}

// openLocked opens a pack where it is locked. Where the lock leaves a directory out, the manifest has it, or this machine's
// state, or the call.
func (w *workspace) openLocked(ctx context.Context, world *world, id source.ID, t *target) (*source.Pack, error) {
	entry := t.lock.Packs[id]
	ref, err := entry.Ref(id)
	if err != nil {
		return nil, err
	}
	if d, ok := t.manifest.Dependency(id); ok && d.Ref != nil && d.Ref.Kind == ref.Kind && ref.URL == "" {
		ref.URL, ref.Subdir = d.Ref.URL, d.Ref.Subdir
	}
	if ref.URL == "" && placeless(entry.Source) {
		reg, err := world.lockedAt(ctx, id)
		if err != nil {
			return nil, err
		}
		return reg.Pack(ctx, id, entry.Version)
	}
	if err := world.reach(ref); err != nil {
		return nil, err
	}
	return w.client.openPlace(ctx, world.root, ref)
}
