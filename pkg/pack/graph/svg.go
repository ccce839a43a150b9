package graph

import (
	"fmt"
	"strings"
)

// Lengths in the picture, in pixels. The widths of characters are those of wide fixed-pitch fonts, doubled and rounded up.
const (
	margin     = 16
	padding    = 10
	lineHeight = 16
	columnGap  = 48
	twoChars   = 15 // in a box
	twoSmall   = 14 // in a label
	maxLabel   = 28 // characters
	arrowHead  = 8
)

// style is for light pages, and for dark ones where the reader's system says so.
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
.skillpm-graph text.range{font-size:11px;fill:#57606a;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:4px}
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

// SVG draws the graph as a picture in SVG 1.1 that needs no other file and runs nothing: boxes in columns, what requires
// left of what is required. Each box and arrow says in a title what it is.
func (g *Graph) SVG(o Options) string {
	p := &picture{g: g, lines: make([][]string, len(g.nodes))}
	heights := make([]int, len(g.nodes))
	for i := range g.nodes {
		p.lines[i] = g.nodes[i].lines(o)
		heights[i] = lineHeight*len(p.lines[i]) + padding
	}
	p.layout = newLayout(g, heights)
	p.columns()
	p.arrangeLabels()
	p.head(o.Unstyled)
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
	g             *Graph
	lines         [][]string // of each box
	left, right   []int      // of each layer
	labels        []label
	width, height int
	out           strings.Builder
}

// columns works out how wide the layers and the gaps between them are.
func (p *picture) columns() {
	widths, gaps := make([]int, len(p.layers)), make([]int, len(p.layers))
	for i, lines := range p.lines {
		layer := p.vertices[i].layer
		for _, line := range lines {
			widths[layer] = max(widths[layer], length(line, twoChars)+2*padding)
		}
		p.height = max(p.height, p.vertices[i].y+p.vertices[i].height/2)
	}
	for _, w := range p.wires {
		layer := p.vertices[w.from].layer
		gaps[layer] = max(gaps[layer], length(p.label(w), twoSmall))
	}
	for _, v := range p.vertices[len(p.lines):] {
		p.height = max(p.height, v.y)
	}
	x := margin
	for k := range p.layers {
		p.left, p.right = append(p.left, x), append(p.right, x+widths[k])
		x += widths[k] + gaps[k] + columnGap
	}
	p.width, p.height = x, p.height+2*margin
}

// length is how wide a text may be.
func length(s string, two int) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x1100 { // where scripts with wide characters begin
			n++
		}
	}
	return (n*two + 1) / 2
}

func (p *picture) head(unstyled bool) {
	name := "this project"
	if p.g.root >= 0 {
		name = short(plain(p.g.nodes[p.g.root].title()), maxName)
	}
	fmt.Fprintf(&p.out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"skillpm-graph\" role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
		p.width, p.height, p.width, p.height)
	fmt.Fprintf(&p.out, "<title>What %s requires</title>\n<desc>%s</desc>\n", xmlText(name), p.summary())
	if !unstyled {
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
	x, y := p.right[from.layer], from.y+margin
	endX, endY := p.left[to.layer], to.y+margin
	class := ""
	if w.dev {
		class = ` class="dashed"`
	}
	requires, required := &p.g.nodes[w.from], &p.g.nodes[w.to]
	if w.back {
		requires, required = required, requires
	}
	what := requires.title() + " requires " + required.title() + " " + w.constraint
	fmt.Fprintf(&p.out, "<g class=\"wire\"><title>%s</title>", xmlText(plain(strings.TrimSpace(what))))
	switch {
	case w.from == w.to: // in the upper corner
		y -= from.height/2 - 12
		fmt.Fprintf(&p.out, "<path%s d=\"M%d %dC%d %d %d %d %d %d\"/>", class, x, y-6, x+30, y-14, x+30, y+14, x+arrowHead, y+6)
		p.arrow(x, y+6, 1)
	case w.back: // below the arrow that there may be in the other direction
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
		curve(p.left[b.layer], b.y+margin)
		x, y = p.right[b.layer], b.y+margin
		fmt.Fprintf(&p.out, "H%d", x)
	}
	curve(endX, endY)
	p.out.WriteString("\"/>")
}

// arrow draws a head whose point is at x and y. It points to the left for a side of 1, to the right for -1.
func (p *picture) arrow(x, y, side int) {
	fmt.Fprintf(&p.out, "<path class=\"head\" d=\"M%d %dl%d -4v8z\"/>", x, y, side*arrowHead)
}

// label is what stands at an arrow, nothing where there is no place for it.
func (p *picture) label(w wire) string {
	if w.from == w.to || p.span(w) > 1 && len(w.bends) == 0 {
		return ""
	}
	return short(w.wants(), maxLabel)
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
	x, top := p.left[v.layer], v.y+margin-v.height/2
	fmt.Fprintf(&p.out, "<g class=\"%s\"><title>%s</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>",
		class, xmlText(plain(strings.TrimSpace(n.title()+" "+n.Source))), x, top, p.right[v.layer]-x, v.height)
	for k, line := range p.lines[i] {
		class := ""
		if k == 0 {
			class = ` class="name"`
		}
		fmt.Fprintf(&p.out, "<text%s x=\"%d\" y=\"%d\">%s</text>", class, x+padding, top+lineHeight*(k+1), xmlText(line))
	}
	p.out.WriteString("</g>\n")
}

// xmlText writes a text, of printable characters only, so that it is text in XML and in attributes.
func xmlText(s string) string {
	return xmlEscapes.Replace(s)
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")
