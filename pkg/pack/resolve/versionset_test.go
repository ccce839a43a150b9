package resolve

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestVersionSet checks that sets agree with maps, on both sides of a machine word.
func TestVersionSet(t *testing.T) {
	numbers := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 5, 62, 63, 64, 65, 127, 128, 200, 1000}), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers.Draw(t, "a"), numbers.Draw(t, "b")
		sa, sb := setOf(a), setOf(b)
		ma, mb := mapOf(a), mapOf(b)
		want := func(keep func(i int) bool) []int {
			both := maps.Clone(ma)
			maps.Copy(both, mb)
			return slices.DeleteFunc(slices.Sorted(maps.Keys(both)), func(i int) bool { return !keep(i) })
		}
		and := want(func(i int) bool { return ma[i] && mb[i] })
		minus := want(func(i int) bool { return ma[i] && !mb[i] })
		or := want(func(int) bool { return true })
		for name, pair := range map[string][2][]int{
			"and": {slices.Collect(sa.intersect(sb).all()), and}, "minus": {slices.Collect(sa.minus(sb).all()), minus},
			"or": {slices.Collect(sa.union(sb).all()), or}, "itself": {slices.Collect(sa.all()), slices.Sorted(maps.Keys(ma))},
		} {
			if !slices.Equal(pair[0], pair[1]) {
				t.Fatalf("%s: got %v, want %v", name, pair[0], pair[1])
			}
		}
		if sa.overlaps(sb) != (len(and) > 0) || sa.subsetOf(sb) != (len(minus) == 0) || sa.empty() != (len(a) == 0) {
			t.Fatalf("overlaps %t, subsetOf %t, empty %t", sa.overlaps(sb), sa.subsetOf(sb), sa.empty())
		}
		if len(b) > 0 && (!sa.with(b[0]).has(b[0]) || sa.has(b[0]) != ma[b[0]]) {
			t.Fatalf("with and has of %d", b[0])
		}
	})
}

func setOf(list []int) (s versionSet) {
	for _, i := range list {
		s = s.with(i)
	}
	return s
}

func mapOf(list []int) map[int]bool {
	m := make(map[int]bool)
	for _, i := range list {
		m[i] = true
	}
	return m
}
