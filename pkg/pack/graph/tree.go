package graph

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
)

// MaxDepth is the default of [Options.Depth].
const MaxDepth = 100

// Part says what a piece of a tree's text is, so that a terminal can color it.
type Part int

// The parts of a tree's text.
const (
	PartBranch  Part = iota // the lines from one to the other
	PartName                // a pack, or the manifest
	PartVersion             // of the pack
	PartRange               // what is required of it
	PartSkill               // a skill of it
	PartMark                // a remark in parentheses
)

// Options configure how a graph is drawn.
type Options struct {
	Skills bool // show the skills of each pack

	// For trees.
	Depth int                                 // the number of levels below the root; 0: MaxDepth
	ASCII bool                                // no box-drawing characters
	Paint func(part Part, text string) string // returns the text in color; may be nil

	// For pictures.
	Missing string // the remark about a required pack that is not in the graph; "" for "not installed"
	NoStyle bool   // leave out the style sheet, because the page around the SVG has one for the same classes
}

// Tree draws the graph as text: a line for each pack, and what it requires below it. A line has the version, "for"
// and the range, and remarks in parentheses. A pack's requirements are shown once: at its first occurrence among
// those nearest to the root. Others are marked (*). A pack whose requirements are too deep is marked (…). Packs that
// the root does not require follow at the end.
func (g *Graph) Tree(o Options) string {
	t := newTree(g, o, requirements, "for")
	if g.root >= 0 {
		t.drawRoot(g.root)
	}
	for i, n := range g.nodes { // packs that nothing requires
		if !n.required && len(n.in) == 0 {
			t.drawRoot(i)
		}
	}
	for i, n := range g.nodes { // packs that only require one another
		if !n.required && t.steps[i] < 0 {
			t.drawRoot(i)
		}
	}
	return t.out.String()
}

// Inverted draws a tree of what requires a pack, up to the root.
func (g *Graph) Inverted(id pack.ID, o Options) string {
	t := newTree(g, o, dependents, "requires")
	if i := g.find(id); i >= 0 {
		t.drawRoot(i)
	}
	return t.out.String()
}

// tree is the state of drawing a tree.
type tree struct {
	g      *Graph
	o      Options
	follow direction
	word   string // before the range
	glyphs glyphs
	steps  []int  // from the root; -1 for nodes that no tree has yet
	drawn  []bool // with its children
	out    strings.Builder
}

// glyphs connect a line to its siblings and indent its children, also those of the last sibling; more marks a line
// whose children are too deep.
type glyphs struct{ branch, lastBranch, indent, lastIndent, more string }

func newTree(g *Graph, o Options, follow direction, word string) *tree {
	t := &tree{
		g: g, o: o, follow: follow, word: word, steps: make([]int, len(g.nodes)), drawn: make([]bool, len(g.nodes)),
		glyphs: glyphs{"├── ", "└── ", "│   ", "    ", "(…)"},
	}
	if o.ASCII {
		t.glyphs = glyphs{"|-- ", "`-- ", "|   ", "    ", "(...)"}
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

// drawRoot draws a node and everything below it.
func (t *tree) drawRoot(i int) {
	t.g.addDistances(t.steps, i, t.follow)
	t.drawNode(i, 0, arc{}, "")
}

// drawNode draws a node that an arc leads to, and its children.
func (t *tree) drawNode(i, depth int, via arc, indent string) {
	n := &t.g.nodes[i]
	children := t.follow(n)
	skills := n.Skills
	if !t.o.Skills {
		skills = nil
	}
	elsewhere := t.drawn[i] || t.steps[i] < depth
	mark := ""
	switch {
	case elsewhere && len(children)+len(skills) > 0:
		mark = "(*)"
	case depth >= t.o.Depth && len(children) > 0:
		mark = t.glyphs.more
	}
	t.drawLine(n, via, depth == 0, mark)
	if elsewhere {
		return
	}
	t.drawn[i] = true
	if depth >= t.o.Depth {
		children = nil
	}
	for k, s := range skills {
		t.drawBranch(indent, k == len(skills)-1 && len(children) == 0)
		t.out.WriteString(t.o.Paint(PartSkill, "skill "+s.String()) + "\n")
	}
	for k, a := range children {
		t.drawNode(a.to, depth+1, a, t.drawBranch(indent, k == len(children)-1))
	}
}

// drawBranch begins a line, and returns the indentation of the lines below it.
func (t *tree) drawBranch(indent string, last bool) string {
	branch, below := t.glyphs.branch, t.glyphs.indent
	if last {
		branch, below = t.glyphs.lastBranch, t.glyphs.lastIndent
	}
	t.out.WriteString(t.o.Paint(PartBranch, indent+branch))
	return indent + below
}

func (t *tree) drawLine(n *node, via arc, isRoot bool, mark string) {
	words := []string{t.o.Paint(PartName, printable(n.name))}
	if n.Version != "" {
		words = append(words, t.o.Paint(PartVersion, printable(n.Version)))
	}
	if via.constraint != "" {
		words = append(words, t.o.Paint(PartRange, t.word+" "+printable(via.constraint)))
	}
	remarks := n.remarks(isRoot)
	if via.dev {
		remarks = append(remarks, "dev")
	}
	for _, r := range remarks {
		words = append(words, t.o.Paint(PartMark, "("+r+")"))
	}
	if mark != "" {
		words = append(words, t.o.Paint(PartMark, mark))
	}
	t.out.WriteString(strings.Join(words, " ") + "\n")
}
