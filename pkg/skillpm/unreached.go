package skillpm

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/source"
)

// unreached returns the locked packs whose registry or place can't be asked now, with the reason. They stay where they are
// locked.
func (w *work) unreached(ctx context.Context, ids []source.ID, asked map[source.ID]source.Dependency) map[source.ID]error {
	var wanted []source.Dependency
	for _, id := range ids {
		if d, ok := asked[id]; ok && w.Lock.Packs[id] != nil {
			wanted = append(wanted, d)
		}
	}
	w.provider.Expect(ctx, wanted)
	lost := map[source.ID]error{}
	for _, d := range wanted {
		if _, err := w.provider.Offered(ctx, d); diag.CodeOf(err) == diag.Remote && ctx.Err() == nil {
			lost[d.ID] = err
			w.provider.Hold(d.ID)
		}
	}
	return lost
}

// askedFor is asked with what a manifest requires as it stands there.
func (w *work) askedFor(m *project.Manifest) map[source.ID]source.Dependency {
	asked := w.asked()
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		asked[d.ID] = source.Dependency{ID: d.ID, Ref: d.Ref}
	}
	return asked
}

// unreachedIDs returns the packs of a map, sorted.
func unreachedIDs(lost map[source.ID]error) []source.ID {
	return slices.SortedFunc(maps.Keys(lost), source.ID.Compare)
}

// unreachedWarnings says of packs that could not be asked about where they stay, and why.
func (w *work) unreachedWarnings(lost map[source.ID]error) []string {
	var list []string
	for _, id := range unreachedIDs(lost) {
		list = append(list, fmt.Sprintf("%s stays at %s, because nobody could be asked: %v", id, w.lockedVersion(id), lost[id]))
	}
	return list
}
