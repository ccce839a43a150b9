package resolve_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

const largeSize = 4000

// large returns registries of largeSize packs with ten versions each. To resolve them, the solver backtracks, and
// learns from it, hundreds of times.
var large = []struct {
	name string
	make func(seed uint64) *generated
}{
	{"ecosystem", func(seed uint64) *generated { return ecosystem(seed, largeSize) }},
	{"knots", func(seed uint64) *generated { return knots(seed, largeSize, 0.2, 8) }},
	{"tight-knots", func(seed uint64) *generated { return knots(seed, largeSize, 0.3, 6) }},
}

func TestLarge(t *testing.T) {
	for _, tt := range large {
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(tt.name, seed), func(t *testing.T) {
				g := tt.make(seed)
				var stats resolve.Stats
				chosen, err := resolve.Resolve(t.Context(), g.root, g, resolve.Options{Stats: &stats})
				if err != nil {
					t.Fatal(err)
				}
				if stats.Packs != largeSize || len(chosen) != largeSize {
					t.Errorf("%d packs were looked at and %d chosen, want %d", stats.Packs, len(chosen), largeSize)
				}
				if stats.Conflicts < 300 {
					t.Errorf("it had to go back only %d times: the case is too easy", stats.Conflicts)
				}
				g.check(t, chosen)

				g.shuffle(seed)
				again, err := resolve.Resolve(t.Context(), g.root, g, resolve.Options{})
				if err != nil || show(again) != show(chosen) {
					t.Errorf("another order of input gives another choice (%v)", err)
				}
				locked := resolve.Options{Prefer: make(map[pack.ID]string), Stats: &stats}
				for id, c := range chosen {
					locked.Prefer[id] = c.Version
				}
				again, err = resolve.Resolve(t.Context(), g.root, g, locked)
				if err != nil || show(again) != show(chosen) || stats.Conflicts > 0 {
					t.Errorf("from its own lock: another choice, or %d conflicts on the way (%v)", stats.Conflicts, err)
				}
			})
		}
	}
}

// BenchmarkLarge chooses versions for largeSize packs of ten versions each.
func BenchmarkLarge(b *testing.B) {
	for _, tt := range large {
		b.Run(tt.name, func(b *testing.B) {
			g := tt.make(1)
			var stats resolve.Stats
			for b.Loop() {
				if _, err := resolve.Resolve(b.Context(), g.root, g, resolve.Options{Stats: &stats}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(stats.Conflicts), "conflicts/op")
			b.ReportMetric(float64(stats.Learned), "learned/op")
		})
	}
}

// BenchmarkLocked chooses the locked versions of largeSize packs.
func BenchmarkLocked(b *testing.B) {
	g := ecosystem(1, largeSize)
	chosen, err := resolve.Resolve(b.Context(), g.root, g, resolve.Options{})
	if err != nil {
		b.Fatal(err)
	}
	prefer := make(map[pack.ID]string)
	for id, c := range chosen {
		prefer[id] = c.Version
	}
	for b.Loop() {
		if _, err := resolve.Resolve(b.Context(), g.root, g, resolve.Options{Prefer: prefer}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSmall chooses versions for 20 packs, the size of most projects.
func BenchmarkSmall(b *testing.B) {
	g := ecosystem(1, 20)
	for b.Loop() {
		if _, err := resolve.Resolve(b.Context(), g.root, g, resolve.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConflict detects that largeSize packs have no solution, and explains it.
func BenchmarkConflict(b *testing.B) {
	g := ecosystem(1, largeSize)
	last := g.order[len(g.order)-1]
	g.root = append(slices.Clone(g.root), last.atMost(0))
	for b.Loop() {
		_, err := resolve.Resolve(b.Context(), g.root, g, resolve.Options{})
		if conflict := (*resolve.ConflictError)(nil); !errors.As(err, &conflict) {
			b.Fatal(err)
		}
	}
}

// BenchmarkIndex chooses versions for a manifest of 40 dependencies from an index of 3,000 packs with 30 versions each.
func BenchmarkIndex(b *testing.B) {
	g := sparse(1, 3000, 30, 40)
	var stats resolve.Stats
	selected := 0
	for b.Loop() {
		chosen, err := resolve.Resolve(b.Context(), g.root, g, resolve.Options{Stats: &stats})
		if err != nil {
			b.Fatal(err)
		}
		selected = len(chosen)
	}
	b.ReportMetric(float64(selected), "packs/op")
	b.ReportMetric(float64(stats.Conflicts), "conflicts/op")
}
