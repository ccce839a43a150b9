package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
)

// Recheck checks again the signatures of the packs whose signers the lock records, and returns what is wrong, by pack.
// They are asked for where they are not on this machine.
func (pr *Provider) Recheck(ctx context.Context, m *pack.Manifest) (map[pack.ID]error, error) {
	wrong := map[pack.ID]error{}
	s := Standing{Manifest: m, Packs: pr.lock.Packs, Linked: func(pack.ID) bool { return false }}
	sol := &Solution{Lock: pr.lock.Clone(), Packs: map[pack.ID]*pack.Pack{}}
	for _, id := range slices.SortedFunc(maps.Keys(pr.lock.Packs), pack.ID.Compare) {
		entry := pr.lock.Packs[id]
		if entry.Signer == "" {
			continue
		}
		w, err := lockedSigner(entry.Signer)
		if err == nil {
			_, _, err = pr.admit(ctx, sol, s, id, []demand{{wanted: w, before: entry, pack: id, version: entry.Version}})
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			wrong[id] = err
		}
	}
	return wrong, nil
}
