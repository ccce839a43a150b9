package solve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// Move ignores where a pack is locked: it comes from where its name is looked up now. It keeps its locked version if
// the other source has it.
func (b *Backend) Move(id pack.ID) {
	b.mark(id, func(m *mark) { m.moved = true })
	delete(b.lookups, lookupKey{pack: id}) // it asked where the pack is locked
}

// MoveRebound calls [Backend.Move] for those packs whose owner is bound to a registry that does not offer their locked
// source: the binding changed. It returns the packs of which that registry could not tell, with the reasons; they must
// not be updated from their locked source, which the binding forbids. The packs must be required by name.
func (b *Backend) MoveRebound(ctx context.Context, ids []pack.ID) map[pack.ID]error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id pack.ID) bool {
		locked, ok := b.Previous.Packs[id]
		bound := b.Fetcher.Registries.BoundTo(id.Owner)
		return !ok || bound == "" || b.marks[id].moved ||
			strings.HasPrefix(bound, "oci://") && registry.Repository(bound, id) == locked.Source
	})
	moved, errs := make([]bool, len(ids)), make([]error, len(ids))
	var group bug.Group
	group.SetLimit(parallelLookups)
	for i, id := range ids {
		group.Go(func() error {
			moved[i], errs[i] = b.offersElsewhere(ctx, id)
			return nil
		})
	}
	_ = group.Wait() // the errors are kept
	failed := map[pack.ID]error{}
	for i, id := range ids {
		if errs[i] != nil {
			failed[id] = errs[i]
		} else if moved[i] {
			b.Move(id)
		}
	}
	return failed
}

// offersElsewhere reports whether the registry that a pack's owner is bound to has the pack, but not at its locked
// source.
func (b *Backend) offersElsewhere(ctx context.Context, id pack.ID) (bool, error) {
	r, err := b.Fetcher.Registries.Find(ctx, id, "")
	if err != nil {
		return false, err
	}
	versions, err := r.Versions(ctx, id)
	locked := b.Previous.Packs[id].Source
	return err == nil && !slices.ContainsFunc(versions, func(v registry.Version) bool {
		return v.Source == locked
	}), err
}

// leavesBinding reports whether a source is another than what the owner of a pack is bound to, as far as that can be
// told without asking anybody.
func (b *Backend) leavesBinding(id pack.ID, source string) bool {
	bound := b.Fetcher.Registries.BoundTo(id.Owner)
	switch {
	case strings.HasPrefix(bound, "oci://"):
		return registry.Repository(bound, id) != source
	case bound == registry.Local || bound == registry.Embedded:
		return bound != source
	}
	return false
}

// moveWarnings warns of a pack that is locked to another source than the one that its owner is bound to now.
func (b *Backend) moveWarnings(id pack.ID, src string, locked *pack.LockedPack) []string {
	if src != "" || b.marks[id].fixed || !b.leavesBinding(id, locked.Source) {
		return nil // or an update cannot move it, and says why
	}
	return []string{fmt.Sprintf("%s stays locked to %s although %s is bound to %s; move the pack with: skillpm update %s",
		id, locked.Source, id.Owner, b.Fetcher.Registries.BoundTo(id.Owner), id)}
}

// overrideWarnings warns of a pack that --registry takes from another source than the one that its owner is bound to.
func (b *Backend) overrideWarnings(id pack.ID, src string, now *pack.LockedPack) []string {
	if src != "" || !b.Fetcher.Registries.Overridden() || !b.leavesBinding(id, now.Source) {
		return nil
	}
	return []string{fmt.Sprintf("%[1]s comes from %[2]s, but %[3]s is bound to %[4]s: "+
		"the next \"skillpm update\" moves the pack back; change the binding with: skillpm registry bind %[3]s REGISTRY",
		id, now.Source, id.Owner, b.Fetcher.Registries.BoundTo(id.Owner))}
}
