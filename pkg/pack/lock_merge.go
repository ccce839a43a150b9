package pack

import (
	"maps"
	"slices"
)

// MergeLocks merges two lockfiles that were changed from the same base, entry by entry: an entry that only one side
// changed, added, or removed is taken from that side. It returns the packs and skill names that both sides changed
// differently; the merged lockfile has our entries for them. It does not resolve versions: what the merged entries
// require of each other is checked by the next install.
func MergeLocks(base, ours, theirs *Lock) (merged *Lock, conflicts []string) {
	merged = NewLock()
	merged.unknown = ours.unknown
	packs := mergeEntries(base.Packs, ours.Packs, theirs.Packs, merged.Packs, (*LockedPack).Equal)
	for _, id := range slices.SortedFunc(slices.Values(packs), ID.Compare) {
		conflicts = append(conflicts, id.String())
	}
	names := mergeEntries(base.Names, ours.Names, theirs.Names, merged.Names, LockedName.Equal)
	slices.Sort(names)
	return merged, append(conflicts, names...)
}

// mergeEntries puts the merged entries into a map, and returns the keys that both sides changed differently.
func mergeEntries[K comparable, V any](base, ours, theirs, merged map[K]V, equal func(V, V) bool) (conflicts []K) {
	keys := maps.Clone(ours)
	maps.Copy(keys, theirs)
	for key := range keys {
		same := func(a, b map[K]V) bool {
			x, inA := a[key]
			y, inB := b[key]
			return inA == inB && (!inA || equal(x, y))
		}
		from := ours
		switch {
		case same(ours, theirs), same(base, theirs):
		case same(base, ours):
			from = theirs
		default:
			conflicts = append(conflicts, key)
		}
		if entry, ok := from[key]; ok {
			merged[key] = entry
		}
	}
	return conflicts
}
