package pack

import (
	"bytes"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// MergeLocks merges two lockfiles that were changed from the same base, entry by entry: an entry that only one side
// changed, added, or removed is taken from that side. It returns the packs and skill names that both sides changed
// differently; the merged lockfile has our entries for them. It does not resolve versions: what the merged entries
// require of each other is checked by the next install.
func MergeLocks(base, ours, theirs *Lock) (merged *Lock, conflicts []string) {
	merged = NewLock()
	merged.unknown = mergeUnknown(base.unknown, ours.unknown, theirs.unknown)
	packs := mergeEntries(base.Packs, ours.Packs, theirs.Packs, merged.Packs, (*LockedPack).Equal)
	for _, id := range slices.SortedFunc(slices.Values(packs), ID.Compare) {
		conflicts = append(conflicts, id.String())
	}
	names := mergeEntries(base.Names, ours.Names, theirs.Names, merged.Names, LockedName.Equal)
	slices.Sort(names)
	return merged, append(conflicts, names...)
}

// mergeUnknown merges the unknown keys in the same way. Of keys that both sides changed differently, it keeps ours.
func mergeUnknown(base, ours, theirs unknownKeys) unknownKeys {
	merged := unknownKeys{packs: map[ID]unknownIn[*LockedPack]{}, names: map[string]unknownIn[LockedName]{}}
	mergeEntries(base.packs, ours.packs, theirs.packs, merged.packs, func(a, b unknownIn[*LockedPack]) bool {
		return a.value.Equal(b.value) && sameKeys(a.keys, b.keys)
	})
	mergeEntries(base.names, ours.names, theirs.names, merged.names, func(a, b unknownIn[LockedName]) bool {
		return a.value.Equal(b.value) && sameKeys(a.keys, b.keys)
	})
	root := map[string]*yaml.Node{}
	mergeEntries(entriesOf(base.root), entriesOf(ours.root), entriesOf(theirs.root), root, sameKeys)
	for _, entry := range root {
		if merged.root == nil {
			merged.root = &yaml.Node{Kind: yaml.MappingNode}
		}
		merged.root.Content = append(merged.root.Content, entry.Content...)
	}
	return merged
}

// entriesOf returns a mapping for each entry of a mapping, by its key.
func entriesOf(n *yaml.Node) map[string]*yaml.Node {
	entries := map[string]*yaml.Node{}
	for key, value := range yamlx.Pairs(n) {
		entries[key.Value] = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}
	}
	return entries
}

// sameKeys reports whether two mappings are written in the same way.
func sameKeys(a, b *yaml.Node) bool {
	x, y := encoder{new(bytes.Buffer)}, encoder{new(bytes.Buffer)}
	x.unknownKeys(a, 0)
	y.unknownKeys(b, 0)
	return bytes.Equal(x.b.Bytes(), y.b.Bytes())
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
