package resolve_test

import (
	"fmt"
	"testing"

	"github.com/skillpm/skillpm/pkg/resolve"
)

// deepWorld has n packs of ten versions, each of which requires the next packs in a range that its version is in.
func deepWorld(n int) *world {
	w := newWorld()
	name := func(i int) string { return fmt.Sprintf("p%04d", i) }
	for i := range n {
		for v := range 10 {
			var requires []resolve.Requirement
			for _, next := range []int{2*i + 1, 2*i + 2, i + 7} {
				if next < n {
					requires = append(requires, resolve.Requirement{Pack: id(name(next)), Constraint: fmt.Sprintf("<=1.%d", v)})
				}
			}
			w.add(place{id(name(i)), ""}, resolve.Version{Version: fmt.Sprintf("1.%d.0", v)}, requires)
		}
	}
	w.root = []resolve.Requirement{{Pack: id(name(0)), Constraint: "^1"}, {Pack: id(name(n - 1)), Constraint: "<1.5"}}
	return w
}

// BenchmarkResolve chooses versions for 20 and 1,000 packs of ten versions each.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{20, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := deepWorld(n)
			for b.Loop() {
				if _, err := w.resolve(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkConflict finds out that there is no choice, after trying every version of 40 packs.
func BenchmarkConflict(b *testing.B) {
	w := newWorld()
	for i := range 40 {
		next := resolve.Requirement{Pack: id(fmt.Sprintf("p%02d", i+1))}
		for v := range 10 {
			w.add(place{id(fmt.Sprintf("p%02d", i)), ""}, resolve.Version{Version: fmt.Sprintf("1.%d.0", v)}, []resolve.Requirement{next})
		}
	}
	w.add(place{id("p40"), ""}, resolve.Version{Version: "1.0.0"}, []resolve.Requirement{{Pack: id("z"), Constraint: "^2"}})
	w.add(place{id("z"), ""}, resolve.Version{Version: "1.0.0"}, nil)
	w.add(place{id("z"), ""}, resolve.Version{Version: "2.0.0"}, nil)
	w.root = []resolve.Requirement{{Pack: id("p00")}, {Pack: id("z"), Constraint: "^1"}}
	for b.Loop() {
		if _, err := w.resolve(b.Context()); err == nil {
			b.Fatal("no conflict")
		}
	}
}
