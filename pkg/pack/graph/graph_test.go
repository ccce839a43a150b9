package graph_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/graph"
)

var update = flag.Bool("update", false, "write the drawings in testdata")

// parse reads a graph. A line has a pack, a colon, and its list of requirements, each with a range after an @ and a
// final ! if it is for development only. The root is called root. Others are written owner/name=version, with skills in
// brackets, as [name] or [name>link]. A name that no line starts with is missing.
func parse(t testing.TB, text string) (roots []graph.Edge, packs []graph.Pack) {
	t.Helper()
	for line := range strings.Lines(text) {
		head, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		var edges []graph.Edge
		for word := range strings.FieldsSeq(rest) {
			word, dev := strings.CutSuffix(word, "!")
			name, constraint, _ := strings.Cut(word, "@")
			edges = append(edges, graph.Edge{To: id(name), Constraint: constraint, Dev: dev})
		}
		if head == "root" {
			roots = edges
			continue
		}
		head, skills, _ := strings.Cut(strings.TrimSuffix(head, "]"), "[")
		name, version, _ := strings.Cut(head, "=")
		p := graph.Pack{ID: id(name), Version: version, Source: "embedded", Requires: edges}
		for s := range strings.FieldsSeq(skills) {
			name, link, _ := strings.Cut(s, ">")
			p.Skills = append(p.Skills, graph.Skill{Name: name, Link: link})
		}
		packs = append(packs, p)
	}
	return roots, packs
}

func id(name string) pack.ID {
	owner, name, _ := strings.Cut(name, "/")
	return pack.ID{Owner: owner, Name: name}
}

func build(t testing.TB, text string) *graph.Graph {
	t.Helper()
	roots, packs := parse(t, text)
	return graph.New("acme/app", roots, packs)
}

// drawings lists the formats that are compared with testdata, by file name extension.
func drawings(t testing.TB, g *graph.Graph) map[string]string {
	data, err := json.MarshalIndent(g.Document(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"txt":        g.Tree(graph.Options{}),
		"skills.txt": g.Tree(graph.Options{Skills: true, ASCII: true, Depth: 2}),
		"dot":        g.DOT(graph.Options{}),
		"mmd":        g.Mermaid(graph.Options{Skills: true}),
		"svg":        g.SVG(graph.Options{Skills: true}),
		"json":       string(data) + "\n",
	}
}

// TestDrawings compares the drawings of each graph in testdata/*.graph with the files beside it, and requires the same
// output if packs and requirements come in another order.
func TestDrawings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.graph")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d graphs, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, "graph")
		t.Run(strings.TrimSuffix(filepath.Base(file), ".graph"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			roots, packs := parse(t, string(text))
			got := drawings(t, graph.New("acme/app", roots, packs))
			for end, drawing := range got {
				if *update {
					if err := os.WriteFile(name+end, []byte(drawing), 0o644); err != nil {
						t.Fatal(err)
					}
					continue
				}
				want, err := os.ReadFile(name + end)
				if err != nil {
					t.Fatal(err)
				}
				if drawing != strings.ReplaceAll(string(want), "\r\n", "\n") {
					t.Errorf("%s%s: got\n%s\nwant\n%s", name, end, drawing, want)
				}
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 5 {
				r.Shuffle(len(packs), func(i, j int) { packs[i], packs[j] = packs[j], packs[i] })
				r.Shuffle(len(roots), func(i, j int) { roots[i], roots[j] = roots[j], roots[i] })
				for _, p := range packs {
					r.Shuffle(len(p.Requires), func(i, j int) { p.Requires[i], p.Requires[j] = p.Requires[j], p.Requires[i] })
				}
				for end, drawing := range drawings(t, graph.New("acme/app", roots, packs)) {
					if drawing != got[end] {
						t.Fatalf("another order gives another %s:\n%s\nbefore\n%s", end, drawing, got[end])
					}
				}
			}
		})
	}
}

func TestNewOfDoubles(t *testing.T) {
	a, b := id("acme/a"), id("acme/b")
	g := graph.New("app",
		[]graph.Edge{{To: a, Constraint: "^2", Dev: true}, {To: a, Constraint: "^1"}, {To: b, Dev: true}},
		[]graph.Pack{{ID: a, Version: "1.1.0"}, {ID: a, Version: "1.0.0"}, {ID: b, Requires: []graph.Edge{{To: a, Dev: true}}}})
	want := "app\n├── acme/a 1.0.0 for ^1\n└── acme/b (dev)\n    └── acme/a 1.0.0\n"
	if got := g.Tree(graph.Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	d := g.Document()
	if len(d.Packs) != 2 || d.Packs[0].Dev || !d.Packs[1].Dev {
		t.Errorf("%+v", d.Packs)
	}
}

func TestParts(t *testing.T) {
	const registryText = `
		root: a/a@^1 a/e!
		a/a=1.0.0: a/b@^2
		a/b=2.0.0: a/c
		a/c=3.0.0: a/b
		a/d=4.0.0: a/c
		a/e=5.0.0: a/c`
	g := build(t, registryText)
	for _, tt := range []struct {
		name string
		g    *graph.Graph
		want string // packs of the part
	}{
		{"limit", g.Limit(2), "a/a a/b a/c a/e"},
		{"limit one", g.Limit(1), "a/a a/e"},
		{"no limit", g.Limit(0), "a/a a/b a/c a/d a/e"},
		{"above", g.Above(id("a/b"), 0), "a/a a/b a/c a/d a/e"},
		{"one above", g.Above(id("a/c"), 1), "a/b a/c a/d a/e"},
		{"above a leaf of the root", g.Above(id("a/e"), 0), "a/e"},
		{"above nothing", g.Above(id("no/such"), 0), ""},
		{"a limit without a root", g.Above(id("a/c"), 1).Limit(3), "a/b a/c a/d a/e"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var names []string
			for _, p := range tt.g.Document().Packs {
				names = append(names, p.Pack)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			for end, drawing := range drawings(t, tt.g) {
				if end != "txt" && end != "skills.txt" && drawing == "" {
					t.Errorf("no %s", end)
				}
			}
		})
	}
	if !g.Has(id("a/d")) || g.Has(id("a/x")) {
		t.Error("Has is wrong")
	}
}

func TestInverted(t *testing.T) {
	g := build(t, `
		root: a/a@^1 a/c@^3 a/e@*!
		a/a=1.0.0: a/b@^2
		a/b=2.0.0: a/c@>=1 a/a
		a/c=3.0.0:
		a/e=5.0.0: a/c@~3.0`)
	want := `a/c 3.0.0
├── acme/app requires ^3
├── a/b 2.0.0 requires >=1
│   └── a/a 1.0.0 requires ^2
│       ├── acme/app requires ^1
│       └── a/b 2.0.0 (*)
└── a/e 5.0.0 requires ~3.0
    └── acme/app requires * (dev)
`
	if got := g.Inverted(id("a/c"), graph.Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := g.Inverted(id("no/such"), graph.Options{}); got != "" {
		t.Errorf("%q of a pack that is not there", got)
	}
}

// TestDeepTree draws a chain that is too long to indent.
func TestDeepTree(t *testing.T) {
	g := graph.New("app", []graph.Edge{{To: chainID(0)}}, chain(3_000))
	lines := strings.Split(strings.TrimSpace(g.Tree(graph.Options{})), "\n")
	if len(lines) != graph.MaxDepth+1 || !strings.HasSuffix(lines[graph.MaxDepth], " (…)") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	if n := strings.Count(g.Tree(graph.Options{Depth: 5_000}), "\n"); n != 3_001 {
		t.Errorf("%d lines where all were asked for", n)
	}
}

// TestPaint checks that painting adds only colors.
func TestPaint(t *testing.T) {
	g := build(t, "root: a/a@^1 a/b@*!\na/a=1.0.0[x y>z]: a/b\na/b=1.0.0: a/a")
	seen := map[graph.Part]bool{}
	o := graph.Options{Skills: true}
	want := g.Tree(o)
	o.Paint = func(p graph.Part, text string) string {
		seen[p] = true
		return "<" + text + ">"
	}
	got := g.Tree(o)
	if plain := strings.NewReplacer("<", "", ">", "").Replace(got); plain != want {
		t.Errorf("got\n%s\nwant\n%s", plain, want)
	}
	for _, p := range []graph.Part{graph.PartBranch, graph.PartName, graph.PartVersion, graph.PartRange, graph.PartSkill, graph.PartMark} {
		if !seen[p] {
			t.Errorf("part %d has no colour", p)
		}
	}
}

func chainID(i int) pack.ID {
	return pack.ID{Owner: "acme", Name: "pack-" + string([]byte{byte('a' + i/17576%26), byte('a' + i/676%26), byte('a' + i/26%26), byte('a' + i%26)})}
}

// chain returns packs that each require the next.
func chain(n int) []graph.Pack {
	packs := make([]graph.Pack, n)
	for i := range packs {
		packs[i] = graph.Pack{ID: chainID(i), Version: "1.0.0"}
		if i+1 < n {
			packs[i].Requires = []graph.Edge{{To: chainID(i + 1), Constraint: "^1.0"}}
		}
	}
	return packs
}

// random returns packs that require some of the later packs, and sometimes an earlier one.
func random(n, edges int, cycles bool) (roots []graph.Edge, packs []graph.Pack) {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	packs = chain(n)
	for i := range packs {
		packs[i].Requires = nil
		for range r.IntN(2*edges + 1) {
			to := i + 1 + r.IntN(min(n, 200))
			if cycles && r.IntN(20) == 0 {
				to = i - r.IntN(10)
			}
			if to >= 0 && to < n {
				packs[i].Requires = append(packs[i].Requires, graph.Edge{To: chainID(to), Constraint: "^1.0"})
			}
		}
		if i%7 == 0 {
			roots = append(roots, graph.Edge{To: chainID(i), Constraint: "*"})
		}
	}
	return roots, slices.Clip(packs)
}
