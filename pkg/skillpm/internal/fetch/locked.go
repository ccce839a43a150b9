package fetch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/vendored"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
	"github.com/skillpm/skillpm/pkg/store"
)

// Parallel is how many packs are downloaded at once.
const Parallel = 4

// Locked are the packs of a lock that are fetched.
type Locked struct {
	Manifest *pack.Manifest
	Lock     *pack.Lock
	Opened   map[pack.ID]*pack.Pack // those that were opened already

	// Yanked returns warnings of a pack that is fetched and was not opened: whether it was yanked since.
	Yanked func(context.Context, pack.ID, *pack.LockedPack) []string
}

// Missing fetches the packs of which the store lacks one of the trees, several at a time, and returns warnings. It
// looks into the project's own copies first.
func (f *Fetcher) Missing(ctx context.Context, l Locked, trees iter.Seq[workspace.Tree]) (warnings []string,
	err error,
) {
	s, err := f.Machine.Store()
	if err != nil {
		return nil, err
	}
	missing, stored := map[pack.ID]map[string]string{}, map[pack.ID]bool{}
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
	if err := f.checkStored(ctx, l, stored); err != nil {
		return nil, err
	}
	copies := vendored.Open(f.Root, f.Machine.OS)
	ids := slices.SortedFunc(maps.Keys(missing), pack.ID.Compare)
	damaged, yanked := make([]*vendored.DamagedError, len(ids)), make([][]string, len(ids))
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(Parallel)
	for i, id := range ids {
		if l.Opened[id] == nil && !copies.Has(id) {
			group.Go(func() error {
				yanked[i] = l.Yanked(ctx, id, l.Lock.Packs[id])
				return nil
			})
		}
		group.Go(func() (err error) {
			damaged[i], err = f.fetchMissing(ctx, l, id, copies, s, missing[id])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, id := range ids {
		warnings = append(warnings, yanked[i]...)
		if d := damaged[i]; d != nil {
			warnings = append(warnings, fmt.Sprintf("%v, so skillpm fetched %s; update the vendored copy with: %s", d,
				id,
				d.Command()))
		}
	}
	return warnings, nil
}

// fetchMissing takes skills from the project's own copy, or else fetches their pack. It returns what is wrong with the
// copy, if that is why it fetched.
func (f *Fetcher) fetchMissing(ctx context.Context, l Locked, id pack.ID, copies *vendored.Copy, s *store.Store,
	trees map[string]string,
) (*vendored.DamagedError, error) {
	if !copies.Has(id) {
		return nil, f.fetchLocked(ctx, l, id)
	}
	err := copies.AddToStore(s, id, trees)
	damaged, ok := errors.AsType[*vendored.DamagedError](err)
	if !ok {
		return nil, err
	}
	err = f.fetchLocked(ctx, l, id)
	if err != nil && diag.CodeOf(err) != diag.Interrupted {
		err = diag.Errorf(diag.Integrity, "%w; skillpm also cannot fetch the pack: %w", damaged, err).
			WithHint("restore the committed copy with: git checkout -- %s", damaged.Path)
	}
	return damaged, err
}

// fetchLocked downloads one pack as the lock has it.
func (f *Fetcher) fetchLocked(ctx context.Context, l Locked, id pack.ID) error {
	locked := l.Lock.Packs[id]
	p, ok := l.Opened[id]
	if !ok {
		var err error
		if p, err = f.OpenLocked(ctx, l.Manifest, id, locked); err != nil {
			return err
		}
	}
	_, err := f.Fetch(ctx, p, LockedSkills(locked), locked.Skills)
	return err
}

// LockedSkills returns the skills that a lock has of a pack, nil for all of them.
func LockedSkills(locked *pack.LockedPack) []string {
	if !locked.Partial {
		return nil
	}
	return slices.Sorted(maps.Keys(locked.Skills))
}

// lockedRef returns where a pack is locked. The lock leaves out directories and the users of SSH servers, which the
// manifest may have.
func lockedRef(m *pack.Manifest, id pack.ID, locked *pack.LockedPack) (pack.Ref, error) {
	ref, err := locked.Ref(id)
	if err != nil {
		return ref, err
	}
	d, ok := m.Dependency(id)
	switch {
	case !ok || d.Ref == nil || d.Ref.Kind != ref.Kind:
	case ref.URL == "":
		ref.URL, ref.Subdir = d.Ref.URL, d.Ref.Subdir
	case ref.Source() == d.Ref.Source():
		ref.URL = d.Ref.URL
	}
	return ref, nil
}

// Pinned returns a pack as the lock has it. The registries have the directory of a layout that the lock leaves out.
func (f *Fetcher) Pinned(ctx context.Context, m *pack.Manifest, id pack.ID, locked *pack.LockedPack,
) (*pack.Pack, error) {
	ref, err := lockedRef(m, id, locked)
	if err != nil {
		return nil, err
	}
	if ref.URL == "" && workspace.OmitsDirectory(locked.Source) {
		opened, err := f.openLocked(ctx, m, id, locked)
		if err != nil {
			return nil, err
		}
		ref.URL = opened.Ref.URL
	}
	p := &pack.Pack{ID: id, Version: locked.Version, Ref: f.anchored(ref), Integrity: locked.Integrity}
	for _, name := range slices.Sorted(maps.Keys(locked.Skills)) {
		p.Skills = append(p.Skills, pack.Skill{Name: name, Tree: locked.Skills[name]})
	}
	return p, nil
}

// IsPinned reports whether a locked source can be opened at its digest or commit alone.
func IsPinned(locked *pack.LockedPack) bool {
	return strings.HasPrefix(locked.Source, "oci://") ||
		strings.HasPrefix(locked.Source, "git+") && !strings.HasPrefix(locked.Source, "git+file")
}

// OpenLocked opens a pack where it is locked, at the locked digest or commit. It has the locked version.
func (f *Fetcher) OpenLocked(ctx context.Context, m *pack.Manifest, id pack.ID, locked *pack.LockedPack,
) (*pack.Pack, error) {
	p, err := f.openLocked(ctx, m, id, locked)
	if err != nil {
		err = fmt.Errorf("%s %s (locked): %w", id, locked.Version, err)
		if diag.CodeOf(err) == diag.NotFound {
			err = f.explainGone(ctx, m, id, locked, err)
		}
		return nil, err
	}
	if err := SameVersion(id, locked, p); err != nil {
		return nil, err
	}
	own := *p
	own.Version = locked.Version
	return &own, nil
}

func (f *Fetcher) openLocked(ctx context.Context, m *pack.Manifest, id pack.ID, locked *pack.LockedPack,
) (*pack.Pack, error) {
	ref, err := lockedRef(m, id, locked)
	if err != nil {
		return nil, err
	}
	if ref.URL == "" && workspace.OmitsDirectory(locked.Source) {
		reg, err := f.Registries.Find(ctx, id, locked.Source)
		if err != nil {
			return nil, err
		}
		return reg.Pack(ctx, id, locked.Version)
	}
	return f.Open(pack.WithSkills(ctx, LockedSkills(locked)), ref)
}

// checkStored is [SameVersion] for packs that are in the store and need no fetching, if no network is needed for it:
// those of the registries that every machine has.
func (f *Fetcher) checkStored(ctx context.Context, l Locked, ids map[pack.ID]bool) error {
	for _, id := range slices.SortedFunc(maps.Keys(ids), pack.ID.Compare) {
		locked := l.Lock.Packs[id]
		if l.Opened[id] != nil || locked == nil || locked.Source != registry.Embedded &&
			locked.Source != registry.Local {
			continue
		}
		p, err := f.openLocked(ctx, l.Manifest, id, locked)
		if err != nil {
			continue // it is gone from there; the store has it
		}
		if err := SameVersion(id, locked, p); err != nil {
			return err
		}
	}
	return nil
}

// SameVersion checks that what was found where a pack is locked has its name and the locked version. What states no
// name or version can have any: an index may have given it.
func SameVersion(id pack.ID, locked *pack.LockedPack, found *pack.Pack) error {
	if found.Unnamed {
		return nil
	}
	if found.ID != id {
		return diag.Errorf(diag.Integrity, "skillpm.lock records %s at %s, but the source contains %s",
			id, found.Ref.Source(), found.ID).WithHint("%s", restoreHint(id, locked))
	}
	if found.Version == locked.Version || strings.HasPrefix(found.Version, "0.0.0-") ||
		locked.Version == pack.DefaultVersion("", locked.Resolved) {
		return nil
	}
	return Mislabeled(id, locked, "the locked content is version "+found.Version)
}

// restoreHint says what to do about a lock that contradicts its sources. To install the pack anew would accept whatever
// they have now.
func restoreHint(id pack.ID, locked *pack.LockedPack) string {
	return "restore skillpm.lock from version control; if nobody edited the file, ask " + publisher(id, locked.Source)
}

// CheckLabel is [SameVersion] for a lock whose version has another digest at its source. It returns nil if the locked
// digest is gone.
func (f *Fetcher) CheckLabel(ctx context.Context, id pack.ID, locked *pack.LockedPack) error {
	if !IsPinned(locked) {
		return nil
	}
	p, err := f.openLocked(ctx, &pack.Manifest{}, id, locked)
	if err != nil {
		return nil //nolint:nilerr // the source may have dropped it
	}
	return SameVersion(id, locked, p)
}

// Mislabeled is the error for a lock that has a pack under a version that it is not.
func Mislabeled(id pack.ID, locked *pack.LockedPack, fact string) error {
	return diag.Errorf(diag.Integrity, "skillpm.lock records %s at version %s, but %s", id, locked.Version, fact).
		WithHint("%s", restoreHint(id, locked))
}
