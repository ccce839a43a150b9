package skillpm

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// unreached returns the locked packs whose registry or place can't be asked now, with the reason. They stay where they
// are locked.
func (w *work) unreached(ctx context.Context, ids []pack.ID, asked map[pack.ID]pack.Dependency) map[pack.ID]error {
	var wanted []pack.Dependency
	for _, id := range ids {
		if d, ok := asked[id]; ok && w.Lock.Packs[id] != nil {
			wanted = append(wanted, d)
		}
	}
	w.Backend.Prefetch(ctx, wanted)
	lost := map[pack.ID]error{}
	for _, d := range wanted {
		if _, err := w.Backend.Offered(ctx, d); diag.CodeOf(err) == diag.Remote && ctx.Err() == nil {
			lost[d.ID] = err
			w.Backend.Hold(d.ID)
		}
	}
	return lost
}

// askedFor is asked with what a manifest requires as it stands there.
func (w *work) askedFor(m *pack.Manifest) map[pack.ID]pack.Dependency {
	asked := w.asked()
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		asked[d.ID] = pack.Dependency{ID: d.ID, Ref: d.Ref}
	}
	return asked
}

// unreachedIDs returns the packs of a map, sorted.
func unreachedIDs(lost map[pack.ID]error) []pack.ID {
	return slices.SortedFunc(maps.Keys(lost), pack.ID.Compare)
}

// unreachedWarnings says of packs that could not be asked about where they stay, and why.
func (w *work) unreachedWarnings(lost map[pack.ID]error) []string {
	var list []string
	for _, id := range unreachedIDs(lost) {
		list = append(list, fmt.Sprintf("%s stays at %s, because nobody could be asked: %v", id, w.lockedVersion(id), lost[id]))
	}
	return list
}
