package provider

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skillpm/vendored"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// parallelFetches is how many packs are downloaded at once.
const parallelFetches = 4

// openPlace opens the pack at a place; path and layout directories are relative to root.
func (pr *Provider) openPlace(ctx context.Context, ref pack.Ref) (*pack.Pack, error) {
	from, err := pr.from(ref)
	if err != nil {
		return nil, err
	}
	pr.options.Progress(Event{Text: "looking at " + ref.Source()})
	p, err := from.Open(ctx, anchored(pr.root, ref))
	if err != nil {
		return nil, err
	}
	if ref.Kind == pack.KindLayout {
		p.Ref.URL = ref.URL
	}
	return p, nil
}

// anchored returns the reference with a layout's directory made absolute.
func anchored(root string, ref pack.Ref) pack.Ref {
	if ref.Kind == pack.KindLayout && !filepath.IsAbs(filepath.FromSlash(ref.URL)) {
		ref.URL = filepath.Join(root, filepath.FromSlash(ref.URL))
	}
	return ref
}

// fetch puts the named skills of a pack into the store, unless they are there, and returns their digests. What the
// pack or the lock promised must be what arrives.
func (pr *Provider) fetch(ctx context.Context, p *pack.Pack, skills []string, locked map[string]string) (map[string]string, error) {
	from, err := pr.from(p.Ref)
	if err != nil {
		return nil, err
	}
	s, err := pr.machine.Store()
	if err != nil {
		return nil, err
	}
	writer, err := s.Writer(bundle.DefaultLimits())
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	pinned := *p
	pinned.Ref = anchored(pr.root, p.Ref)
	if err := from.Fetch(pr.metered(ctx, p), &pinned, skills, writer); err != nil {
		return nil, fmt.Errorf("%s %s: %w", p.ID, p.Version, err)
	}
	got, err := writer.Commit(promised(p, skills, locked))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", p.ID, p.Version, err)
	}
	pr.options.Progress(Event{Pack: p.ID.String() + " " + p.Version, Finished: true})
	unvouched := slices.ContainsFunc(p.Skills, func(s pack.Skill) bool { return s.Tree == "" })
	if p.Ref.Digest != "" && (unvouched || p.Ref.Kind == pack.KindGit) { // a directory changes
		err := pr.keeper.Record(&pinned, got)
		if diag.CodeOf(err) == diag.Integrity || err != nil && pr.policies.Restricts() {
			return nil, err
		}
	}
	return got, nil
}

// metered has the progress of a pack's transfer reported.
func (pr *Provider) metered(ctx context.Context, p *pack.Pack) context.Context {
	e := Event{Text: fmt.Sprintf("fetching %s %s from %s", p.ID, p.Version, p.Ref.Source()), Pack: p.ID.String() + " " + p.Version}
	pr.options.Progress(e)
	return pack.WithProgress(ctx, func(done, total int64) {
		e := e
		e.Received, e.Size = done, total
		pr.options.Progress(e)
	})
}

// promised returns the digests that the skills must have: the lock's, else those that the place gave.
func promised(p *pack.Pack, skills []string, locked map[string]string) map[string]string {
	want := map[string]string{}
	for _, s := range p.Skills {
		if s.Tree != "" && (len(skills) == 0 || slices.Contains(skills, s.Name)) {
			want[s.Name] = s.Tree
		}
	}
	maps.Copy(want, locked)
	return want
}

// FetchMissing brings the packs that the store does not have whole, several at a time: those of the trees given, as the
// solution has them. The project's own copy is looked at first; where that is damaged the solution gets a warning, and
// for a version that was withdrawn, too.
func (pr *Provider) FetchMissing(ctx context.Context, m *pack.Manifest, sol *Solution, trees iter.Seq[workspace.Tree]) error {
	s, err := pr.machine.Store()
	if err != nil {
		return err
	}
	missing := map[pack.ID]map[string]string{}
	stored := map[pack.ID]bool{}
	for tree := range trees {
		if s.Has(tree.Digest) {
			stored[tree.Pack] = true
			continue
		}
		if missing[tree.Pack] == nil {
			missing[tree.Pack] = map[string]string{}
		}
		missing[tree.Pack][tree.Skill] = tree.Digest
	}
	if err := pr.checkStored(ctx, m, sol, stored); err != nil {
		return err
	}
	kept := vendored.Open(pr.root, pr.machine.OS)
	ids := slices.SortedFunc(maps.Keys(missing), pack.ID.Compare)
	damages, withdrawn := make([]*vendored.DamagedError, len(ids)), make([][]string, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelFetches)
	for i, id := range ids {
		if _, looked := sol.Packs[id]; !looked && !kept.Has(id) {
			group.Go(func() error {
				withdrawn[i] = pr.withdrawn(ctx, id, sol.Lock.Packs[id])
				return nil
			})
		}
		group.Go(func() error {
			done, err := putVendored(kept, s, id, missing[id], &damages[i])
			if done || err != nil {
				return err
			}
			return instead(damages[i], pr.fetchLocked(ctx, m, sol, id))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, id := range ids {
		sol.Warnings = append(sol.Warnings, withdrawn[i]...)
		if d := damages[i]; d != nil {
			sol.Warnings = append(sol.Warnings, fmt.Sprintf("%v, so %s was fetched: %s writes the copy anew", d, id, d.Command()))
		}
	}
	return nil
}

// fetchLocked downloads one pack as the lock has it.
func (pr *Provider) fetchLocked(ctx context.Context, m *pack.Manifest, sol *Solution, id pack.ID) error {
	entry := sol.Lock.Packs[id]
	p, ok := sol.Packs[id]
	if !ok {
		var err error
		if p, err = pr.openLocked(ctx, m, sol.Lock, id); err != nil {
			return fmt.Errorf("%s %s, as locked: %w", id, entry.Version, err)
		}
		if err := sameVersion(id, entry, p); err != nil {
			return err
		}
	}
	var names []string
	if entry.Partial {
		names = slices.Sorted(maps.Keys(entry.Skills))
	}
	_, err := pr.fetch(ctx, p, names, entry.Skills)
	return err
}

// openLocked opens a pack where it is locked. Where the lock leaves a directory out, the manifest has it, or this
// machine's state, or the call.
func (pr *Provider) openLocked(ctx context.Context, m *pack.Manifest, lock *pack.Lock, id pack.ID) (*pack.Pack, error) {
	entry := lock.Packs[id]
	ref, err := entry.Ref(id)
	if err != nil {
		return nil, err
	}
	if d, ok := m.Dependency(id); ok && d.Ref != nil && d.Ref.Kind == ref.Kind && ref.URL == "" {
		ref.URL, ref.Subdir = d.Ref.URL, d.Ref.Subdir
	}
	if ref.URL == "" && workspace.Placeless(entry.Source) {
		reg, err := pr.lockedAt(ctx, id)
		if err != nil {
			return nil, err
		}
		return reg.Pack(ctx, id, entry.Version)
	}
	var names []string
	if entry.Partial {
		names = slices.Sorted(maps.Keys(entry.Skills))
	}
	return pr.openPlace(pack.WithSkills(ctx, names), ref)
}
