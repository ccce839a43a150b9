package graph

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
)

// MaxDepth is how many levels a tree has at most unless more are asked for.
const MaxDepth = 100

// Part is what a piece of a tree's text is, for those who give it colours.
type Part int

// The parts of a tree's text.
const (
	PartBranch  Part = iota // the lines from one to the other
	PartName                // a pack, or the manifest
	PartVersion             // of the pack
	PartRange               // what is required of it
	PartSkill               // a skill of it
	PartMark                // a remark in brackets
)

// Options say how a graph is drawn.
type Options struct {
	Skills bool                                // with the skills of each pack
	Depth  int                                 // of a tree: the levels below its root, 0 for up to [MaxDepth]
	ASCII  bool                                // of a tree: without box-drawing characters
	Paint  func(part Part, text string) string // of a tree: returns the text in colour; may be nil

	// Absent is what pictures say of a pack that is required and not there, "" for "not installed".
	Absent string

	// Unstyled is for a picture inside a page that has the styles of its classes: skillpm-graph, box, root, dev,
	// missing, name, wire, head, dashed, range and page.
	Unstyled bool
}

// Tree draws the graph as text, a line a pack and below it what it requires: with its version, "for" and what is
// required of it, and remarks in brackets. What a pack requires stands once, where the pack is nearest to the root, of
// equals where it comes first; elsewhere the pack is marked (*). A pack whose requirements are too deep down is marked
// (…). Packs that the root does not require follow below.
func (g *Graph) Tree(o Options) string {
	t := newTree(g, o, outOf, "for")
	if g.root >= 0 {
		t.start(g.root)
	}
	for i, n := range g.nodes { // those that nobody requires at all
		if !n.required && len(n.in) == 0 {
			t.start(i)
		}
	}
	for i, n := range g.nodes { // those that only require one another
		if !n.required && t.steps[i] < 0 {
			t.start(i)
		}
	}
	return t.out.String()
}

// Inverted draws as text who requires a pack, up to the root. Everything else is as in Tree.
func (g *Graph) Inverted(id pack.ID, o Options) string {
	t := newTree(g, o, into, "requires")
	if i := g.find(id); i >= 0 {
		t.start(i)
	}
	return t.out.String()
}

// tree is the state of drawing one.
type tree struct {
	g       *Graph
	o       Options
	next    func(*node) []arc
	word    string // between a pack and what is required
	signs   signs
	steps   []int  // from the root; -1 for what has not been reached
	shown   []bool // what stands below the node
	indent  []byte
	indents []int // lengths of indent
	out     strings.Builder
}

type signs struct{ branch, last, down, blank, more string }

func newTree(g *Graph, o Options, next func(*node) []arc, word string) *tree {
	t := &tree{
		g: g, o: o, next: next, word: word, steps: make([]int, len(g.nodes)), shown: make([]bool, len(g.nodes)),
		signs: signs{"├── ", "└── ", "│   ", "    ", "(…)"},
	}
	if o.ASCII {
		t.signs = signs{"|-- ", "`-- ", "|   ", "    ", "(...)"}
	}
	if t.o.Depth <= 0 {
		t.o.Depth = MaxDepth
	}
	if t.o.Paint == nil {
		t.o.Paint = func(_ Part, text string) string { return text }
	}
	for i := range t.steps {
		t.steps[i] = -1
	}
	return t
}

// start draws one node with all below it.
func (t *tree) start(i int) {
	t.g.extend(t.steps, i, t.next)
	t.node(i, 0, arc{})
}

// node draws a line, and what stands below it.
func (t *tree) node(i, depth int, by arc) {
	n := &t.g.nodes[i]
	next := t.next(n)
	skills := n.Skills
	if !t.o.Skills {
		skills = nil
	}
	again := t.shown[i] || t.steps[i] < depth
	mark := ""
	switch {
	case again && len(next)+len(skills) > 0:
		mark = "(*)"
	case depth >= t.o.Depth && len(next) > 0:
		mark = t.signs.more
	}
	t.line(n, by, depth == 0, mark)
	if again {
		return
	}
	t.shown[i] = true
	if depth >= t.o.Depth {
		next = nil
	}
	for k, s := range skills {
		t.branch(k == len(skills)-1 && len(next) == 0)
		t.out.WriteString(t.o.Paint(PartSkill, "skill "+s.String()) + "\n")
		t.back()
	}
	for k, a := range next {
		t.branch(k == len(next)-1)
		t.node(a.to, depth+1, a)
		t.back()
	}
}

// branch begins a line and indents those below it; back ends that.
func (t *tree) branch(last bool) {
	sign, below := t.signs.branch, t.signs.down
	if last {
		sign, below = t.signs.last, t.signs.blank
	}
	t.out.WriteString(t.o.Paint(PartBranch, string(t.indent)+sign))
	t.indents = append(t.indents, len(t.indent))
	t.indent = append(t.indent, below...)
}

func (t *tree) back() {
	t.indent = t.indent[:t.indents[len(t.indents)-1]]
	t.indents = t.indents[:len(t.indents)-1]
}

// line writes what is to be said of one node.
func (t *tree) line(n *node, by arc, top bool, mark string) {
	words := []string{t.o.Paint(PartName, plain(n.name))}
	if n.Version != "" {
		words = append(words, t.o.Paint(PartVersion, plain(n.Version)))
	}
	if by.constraint != "" {
		words = append(words, t.o.Paint(PartRange, t.word+" "+plain(by.constraint)))
	}
	marks := n.marks(top)
	if by.dev {
		marks = append(marks, "dev")
	}
	for _, m := range marks {
		words = append(words, t.o.Paint(PartMark, "("+m+")"))
	}
	if mark != "" {
		words = append(words, t.o.Paint(PartMark, mark))
	}
	t.out.WriteString(strings.Join(words, " ") + "\n")
}
