package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/pack/graph"
)

// say writes chains as the names of their packs, each with the required range.
func say(r graph.Reasons) string {
	var lines []string
	for _, chain := range r.Chains {
		var words []string
		for _, s := range chain {
			word := s.ID.Name + s.Constraint
			if s.Dev {
				word += "!"
			}
			words = append(words, word)
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "; ") + fmt.Sprintf("; %d more, open %v", r.More, r.Open)
}

func TestWhy(t *testing.T) {
	const diamond = `
		root: a/a@^1 a/d@^4 a/e!
		a/a=1.0.0: a/b@^2 a/c@^3
		a/b=2.0.0: a/d@~4.0
		a/c=3.0.0: a/d@>=4
		a/d=4.0.0:
		a/e=5.0.0: a/d
		b/stray=1.0.0: a/d`
	const cycle = `
		root: a/a
		a/a=1.0.0: a/b a/c a/a
		a/b=2.0.0: a/c a/a
		a/c=3.0.0: a/b a/d
		a/d=4.0.0: a/a`
	for _, tt := range []struct{ name, graph, of, want string }{
		{"shortest first", diamond, "a/d", "d^4; e! d; a^1 b^2 d~4.0; a^1 c^3 d>=4; 0 more, open false"},
		{"direct", diamond, "a/a", "a^1; 0 more, open false"},
		{"not required", diamond, "b/stray", "; 0 more, open false"},
		{"not there", diamond, "no/such", "; 0 more, open false"},
		{"missing", "root: a/a\na/a=1: a/x@^1", "a/x", "a x^1; 0 more, open false"},
		{"in a cycle", cycle, "a/b", "a b; a c b; 0 more, open false"},
		{"behind a cycle", cycle, "a/d", "a c d; a b c d; 0 more, open false"},
		{"the entrance of a cycle", cycle, "a/a", "a; 0 more, open false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := say(build(t, tt.graph).Why(id(tt.of))); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// ladder returns a graph with two paths past each of its rungs, and with paths back if the rungs are cycles.
func ladder(rungs int, cycles bool) (*graph.Graph, string) {
	var b strings.Builder
	b.WriteString("root: l/x0\n")
	for i := range rungs {
		fmt.Fprintf(&b, "l/x%d=1.0.0: l/a%d l/b%d\nl/a%d=1.0.0: l/x%d\n", i, i, i, i, i+1)
		fmt.Fprintf(&b, "l/b%d=1.0.0: l/x%d", i, i+1)
		if cycles {
			fmt.Fprintf(&b, " l/x%d l/a%d", i/2, i)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "l/x%d=1.0.0:\n", rungs)
	var t testing.T
	return build(&t, b.String()), fmt.Sprintf("l/x%d", rungs)
}

// TestWhyOfManyChains explains a graph with too many chains to enumerate.
func TestWhyOfManyChains(t *testing.T) {
	for _, tt := range []struct {
		rungs  int
		cycles bool
		more   int
		open   bool
	}{
		{4, false, 0, false},
		{5, false, 12, false},
		{12, false, 4096 - 20, false},
		{2_000, false, 1_000_000 - 20, true},
		{2_000, true, 1_000 - 20, true},
	} {
		t.Run(fmt.Sprintf("%d,%v", tt.rungs, tt.cycles), func(t *testing.T) {
			g, target := ladder(tt.rungs, tt.cycles)
			r := g.Why(id(target))
			if r.More != tt.more && !tt.cycles || r.Open != tt.open || len(r.Chains) != min(graph.MaxChains, 1<<min(tt.rungs, 10)) {
				t.Errorf("%d chains and %d more, open %v; want %d more, open %v", len(r.Chains), r.More, r.Open, tt.more, tt.open)
			}
			for _, chain := range r.Chains {
				if len(chain) != 2*tt.rungs+1 {
					t.Errorf("a chain of %d, want the shortest, which have %d", len(chain), 2*tt.rungs+1)
				}
			}
		})
	}
}

// knot returns a graph of packs that all require each other; the manifest requires the first.
func knot(n int) *graph.Graph {
	packs := chain(n)
	for i := range packs {
		packs[i].Requires = nil
		for to := range n {
			if to != i {
				packs[i].Requires = append(packs[i].Requires, graph.Edge{To: chainID(to)})
			}
		}
	}
	return graph.New("app", []graph.Edge{{To: chainID(0)}}, packs)
}

// TestWhyOfKnot proves that Why needs bounded memory even if there are too many chain prefixes to keep.
func TestWhyOfKnot(t *testing.T) {
	const n = 200
	g := knot(n)
	var r graph.Reasons
	allocated := testing.AllocsPerRun(1, func() { r = g.Why(chainID(n - 1)) })
	if most := 250_000.0; allocated > most {
		t.Errorf("%.0f objects are allocated, want at most %.0f", allocated, most)
	}
	if len(r.Chains) != graph.MaxChains || r.More == 0 || !r.Open {
		t.Fatalf("%d chains, %d more, open %v", len(r.Chains), r.More, r.Open)
	}
	for i, chain := range r.Chains {
		if want := min(i, 1) + 2; len(chain) != want {
			t.Errorf("chain %d has %d packs, want %d", i, len(chain), want)
		}
	}
}

// TestWhyOfAnyGraph compares the result with an enumeration of all chains.
func TestWhyOfAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "packs")
		packs := chain(n)
		next := map[int][]int{}
		for i := range packs {
			next[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID[int]).Draw(t, fmt.Sprintf("required by %d", i))
			slices.Sort(next[i])
			packs[i].Requires = nil
			for _, to := range next[i] {
				packs[i].Requires = append(packs[i].Requires, graph.Edge{To: chainID(to)})
			}
		}
		var want [][]int
		var walk func(path []int)
		walk = func(path []int) {
			last := path[len(path)-1]
			if last == n-1 {
				want = append(want, slices.Clone(path))
				return
			}
			for _, to := range next[last] {
				if !slices.Contains(path, to) {
					walk(append(slices.Clone(path), to))
				}
			}
		}
		walk([]int{0})
		slices.SortStableFunc(want, func(a, b []int) int { return len(a) - len(b) })
		r := graph.New("app", []graph.Edge{{To: chainID(0)}}, packs).Why(chainID(n - 1))
		if len(r.Chains)+r.More != len(want) || r.Open {
			t.Fatalf("%d chains and %d more, open %v; want %d", len(r.Chains), r.More, r.Open, len(want))
		}
		for i, chain := range r.Chains {
			if len(chain) != len(want[i]) {
				t.Errorf("chain %d has %d packs, want %d", i, len(chain), len(want[i]))
			}
			for k, s := range chain {
				if k == 0 && s.ID != chainID(0) || k > 0 && !required(packs, chain[k-1], s) {
					t.Errorf("chain %d has a step that is not there: %v", i, chain)
				}
			}
		}
	})
}

func required(packs []graph.Pack, by, what graph.Step) bool {
	return slices.ContainsFunc(packs, func(p graph.Pack) bool {
		return p.ID == by.ID && slices.ContainsFunc(p.Requires, func(e graph.Edge) bool { return e.To == what.ID })
	})
}
