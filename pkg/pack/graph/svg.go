package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Lengths in the picture, in pixels. Characters are as wide as in wide monospaced fonts.
const (
	margin        = 16
	padding       = 10
	lineHeight    = 16
	columnGap     = 48
	boxCharPair   = 15 // in a box
	labelCharPair = 14 // in a label
	maxLabel      = 28 // characters
	arrowHead     = 8

	labelHeight = 14 // between the lines of two labels
)

// style has colors for light pages, and for dark ones if the reader prefers these.
const style = `.skillpm-graph text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}
.skillpm-graph .page{fill:#fff}
.skillpm-graph .box rect{fill:#f6f8fa;stroke:#6e7781}
.skillpm-graph .root rect{stroke:#0969da;stroke-width:2}
.skillpm-graph .dev rect{stroke-dasharray:5 3}
.skillpm-graph .missing rect{stroke:#cf222e;stroke-dasharray:2 2}
.skillpm-graph .name{font-weight:600}
.skillpm-graph .wire path{fill:none;stroke:#6e7781}
.skillpm-graph .wire .head{fill:#6e7781;stroke:none}
.skillpm-graph .wire .dashed{stroke-dasharray:5 3}
.skillpm-graph text.range{font-size:11px;fill:#57606a;text-anchor:middle;paint-order:stroke;` +
	`stroke:#fff;stroke-width:4px}
@media (prefers-color-scheme:dark){
.skillpm-graph text{fill:#e6edf3}
.skillpm-graph .page{fill:#0d1117}
.skillpm-graph .box rect{fill:#161b22;stroke:#8b949e}
.skillpm-graph .root rect{stroke:#58a6ff}
.skillpm-graph .missing rect{stroke:#f85149}
.skillpm-graph .wire path{stroke:#8b949e}
.skillpm-graph .wire .head{fill:#8b949e;stroke:none}
.skillpm-graph text.range{fill:#9da7b1;stroke:#0d1117}
}
`

// SVG draws the graph as a picture in SVG 1.1 that needs no other file and has no scripts: boxes in columns, dependents
// left of what they require. The title of each box and arrow says what it is.
func (g *Graph) SVG(o Options) string {
	p := &picture{lines: make([][]string, len(g.nodes))}
	heights := make([]int, len(g.nodes))
	for i := range g.nodes {
		p.lines[i] = g.nodes[i].lines(o)
		heights[i] = lineHeight*len(p.lines[i]) + padding
	}
	p.layout = newLayout(g, heights)
	p.measure()
	p.placeLabels()
	p.head(o.NoStyle)
	for _, w := range p.wires {
		p.wire(w)
	}
	for i := range p.labels {
		l := &p.labels[i]
		fmt.Fprintf(&p.out, "<text class=\"range\" x=\"%d\" y=\"%d\">%s</text>\n", l.x, l.y, xmlText(l.text))
	}
	for i := range g.nodes {
		p.box(i)
	}
	p.out.WriteString("</svg>\n")
	return p.out.String()
}

type picture struct {
	*layout
	lines         [][]string // of each box
	left, right   []int      // of each column
	labels        []label
	width, height int
	out           strings.Builder
}

// label is the text at a wire. x and y are its middle.
type label struct {
	column, x, y int // column is the one to its left
	text         string
}

// measure computes the widths of the columns and of the gaps between them.
func (p *picture) measure() {
	widths, gaps := make([]int, len(p.columns)), make([]int, len(p.columns))
	for i, lines := range p.lines {
		column := p.vertices[i].column
		for _, line := range lines {
			widths[column] = max(widths[column], textWidth(line, boxCharPair)+2*padding)
		}
	}
	for _, w := range p.wires {
		column := p.vertices[w.from].column
		gaps[column] = max(gaps[column], textWidth(p.labelText(w), labelCharPair))
	}
	for _, v := range p.vertices {
		p.height = max(p.height, v.y+v.height/2)
	}
	x := margin
	for k := range p.columns {
		p.left, p.right = append(p.left, x), append(p.right, x+widths[k])
		x += widths[k] + gaps[k] + columnGap
	}
	p.width, p.height = x, p.height+2*margin
}

// textWidth returns an upper bound of the width of a text.
func textWidth(s string, charPair int) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x1100 { // scripts with wide characters begin here
			n++
		}
	}
	return (n*charPair + 1) / 2
}

// placeLabels puts each label into the gap right of where its wire starts, in the middle of the wire there or below the
// label above it.
func (p *picture) placeLabels() {
	for _, w := range p.wires {
		text := p.labelText(w)
		if text == "" {
			continue
		}
		next := w.to
		if len(w.bends) > 0 {
			next = w.bends[0]
		}
		from, to := &p.vertices[w.from], &p.vertices[next]
		l := label{from.column, (p.right[from.column] + p.left[to.column]) / 2, (from.y+to.y)/2 + margin + 4, text}
		if w.reversed {
			l.y += labelHeight
		}
		p.labels = append(p.labels, l)
	}
	slices.SortStableFunc(p.labels, func(a, b label) int {
		return cmp.Or(cmp.Compare(a.column, b.column),
			cmp.Compare(a.y, b.y))
	})
	for i := range p.labels {
		l := &p.labels[i]
		if i > 0 && p.labels[i-1].column == l.column {
			l.y = max(l.y, p.labels[i-1].y+labelHeight)
		}
		p.height = max(p.height, l.y+margin)
	}
}

// labelText returns the text at a wire, "" if there is no room for it.
func (p *picture) labelText(w wire) string {
	if w.from == w.to || p.span(w) > maxSpan {
		return ""
	}
	return textx.TruncateRunes(w.label(), maxLabel)
}

func (p *picture) head(noStyle bool) {
	name := "this project"
	if p.g.root >= 0 {
		name = textx.TruncateRunes(printable(p.g.nodes[p.g.root].title()), maxName)
	}
	fmt.Fprintf(&p.out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"skillpm-graph\" "+
		"role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", p.width, p.height, p.width, p.height)
	fmt.Fprintf(&p.out, "<title>What %s requires</title>\n<desc>%s</desc>\n", xmlText(name), p.summary())
	if !noStyle {
		fmt.Fprintf(&p.out, "<style>\n%s</style>\n", style)
	}
	fmt.Fprintf(&p.out, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", p.width, p.height)
}

func (p *picture) summary() string {
	packs := len(p.g.nodes)
	if p.g.root >= 0 {
		packs--
	}
	return fmt.Sprintf("Packs: %d. Requirements: %d.", packs, len(p.wires))
}

// wire draws an arrow: curves from column to column, and straight through those that it passes.
func (p *picture) wire(w wire) {
	from, to := &p.vertices[w.from], &p.vertices[w.to]
	x, y := p.right[from.column], from.y+margin
	endX, endY := p.left[to.column], to.y+margin
	class := ""
	if w.dev {
		class = ` class="dashed"`
	}
	requires, required := &p.g.nodes[w.from], &p.g.nodes[w.to]
	if w.reversed {
		requires, required = required, requires
	}
	what := requires.title() + " requires " + required.title() + " " + w.constraint
	fmt.Fprintf(&p.out, "<g class=\"wire\"><title>%s</title>", xmlText(printable(strings.TrimSpace(what))))
	switch {
	case w.from == w.to: // in the upper corner
		y -= from.height/2 - 12
		fmt.Fprintf(&p.out, "<path%s d=\"M%d %dC%d %d %d %d %d %d\"/>", class, x, y-6, x+30, y-14, x+30, y+14,
			x+arrowHead, y+6)
		p.arrow(x, y+6, 1)
	case w.reversed: // below the arrow that there may be in the other direction
		y, endY = y+8, endY+8
		p.path(w, class, x+arrowHead, y, endX, endY)
		p.arrow(x, y, 1)
	default:
		p.path(w, class, x, y, endX-arrowHead, endY)
		p.arrow(endX, endY, -1)
	}
	p.out.WriteString("</g>\n")
}

func (p *picture) path(w wire, class string, x, y, endX, endY int) {
	fmt.Fprintf(&p.out, "<path%s d=\"M%d %d", class, x, y)
	curve := func(toX, toY int) {
		middle := (x + toX) / 2
		fmt.Fprintf(&p.out, "C%d %d %d %d %d %d", middle, y, middle, toY, toX, toY)
	}
	for _, i := range w.bends {
		b := &p.vertices[i]
		curve(p.left[b.column], b.y+margin)
		x, y = p.right[b.column], b.y+margin
		fmt.Fprintf(&p.out, "H%d", x)
	}
	curve(endX, endY)
	p.out.WriteString("\"/>")
}

// arrow draws a head whose point is at x and y. It points to the left for a side of 1, to the right for -1.
func (p *picture) arrow(x, y, side int) {
	fmt.Fprintf(&p.out, "<path class=\"head\" d=\"M%d %dl%d -4v8z\"/>", x, y, side*arrowHead)
}

// box draws a node.
func (p *picture) box(i int) {
	n, v := &p.g.nodes[i], &p.vertices[i]
	class := "box"
	switch {
	case n.key == "":
		class += " root"
	case n.missing:
		class += " missing"
	case n.dev:
		class += " dev"
	}
	x, top := p.left[v.column], v.y+margin-v.height/2
	fmt.Fprintf(&p.out, "<g class=\"%s\"><title>%s</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>",
		class, xmlText(printable(strings.TrimSpace(n.title()+" "+n.Source))), x, top, p.right[v.column]-x, v.height)
	for k, line := range p.lines[i] {
		class := ""
		if k == 0 {
			class = ` class="name"`
		}
		fmt.Fprintf(&p.out, "<text%s x=\"%d\" y=\"%d\">%s</text>", class, x+padding, top+lineHeight*(k+1),
			xmlText(line))
	}
	p.out.WriteString("</g>\n")
}

// xmlText escapes a text of printable characters for XML, also for attributes.
func xmlText(s string) string {
	return xmlEscapes.Replace(s)
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")
