package graph_test

import (
	"fmt"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/graph"
)

// BenchmarkDrawings draws graphs of 1,000 and 10,000 packs, with about three requirements each.
func BenchmarkDrawings(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		roots, packs := random(n, 3, true)
		g := graph.New("app", roots, packs)
		for _, d := range []struct {
			name string
			draw func() int
		}{
			{"new", func() int { graph.New("app", roots, packs); return 0 }},
			{"tree", func() int { return len(g.Tree(graph.Options{})) }},
			{"inverted", func() int { return len(g.Inverted(chainID(n/2), graph.Options{})) }},
			{"dot", func() int { return len(g.DOT(graph.Options{})) }},
			{"mermaid", func() int { return len(g.Mermaid(graph.Options{})) }},
			{"json", func() int { return len(g.Document().Packs) }},
			{"svg", func() int { return len(g.SVG(graph.Options{})) }},
			{"why", func() int { return g.Why(chainID(n / 2)).More }},
		} {
			b.Run(fmt.Sprintf("%s/%d", d.name, n), func(b *testing.B) {
				size := 0
				for b.Loop() {
					size = d.draw()
				}
				b.ReportMetric(float64(size)/float64(n), "size/pack")
			})
		}
	}
}

// BenchmarkChain draws one chain of 10,000 packs, each of which the manifest also requires: the longest possible wires.
func BenchmarkChain(b *testing.B) {
	packs := chain(10_000)
	var roots []graph.Edge
	for _, p := range packs {
		roots = append(roots, graph.Edge{To: p.ID})
	}
	g := graph.New("app", roots, packs)
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			g.Tree(graph.Options{})
		}
	})
	b.Run("svg", func(b *testing.B) {
		for b.Loop() {
			g.SVG(graph.Options{})
		}
	})
}

// BenchmarkWhyOfManyChains explains a graph with cycles everywhere, and more chains than there are atoms.
func BenchmarkWhyOfManyChains(b *testing.B) {
	for _, cycles := range []bool{false, true} {
		g, target := ladder(3_000, cycles)
		b.Run(fmt.Sprintf("cycles=%v", cycles), func(b *testing.B) {
			for b.Loop() {
				g.Why(id(target))
			}
		})
	}
}

// BenchmarkWhyOfKnot explains packs that all require each other.
func BenchmarkWhyOfKnot(b *testing.B) {
	for _, n := range []int{200, 1_000} {
		g := knot(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g.Why(chainID(n - 1))
			}
		})
	}
}
