package graph

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// DOT writes the graph in the language of Graphviz (https://graphviz.org/doc/info/lang.html), a statement a line. The
// root is called root and a pack by its name.
func (g *Graph) DOT(o Options) string {
	var b strings.Builder
	b.WriteString("digraph skillpm {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=monospace];\n" +
		"  edge [fontname=monospace, fontsize=10];\n")
	for i := range g.nodes {
		n := &g.nodes[i]
		fmt.Fprintf(&b, "  %s [label=\"%s\"%s];\n", n.dotName(), strings.Join(g.dotLines(n, o), `\n`), n.dotStyle())
	}
	for i := range g.nodes {
		for _, a := range g.nodes[i].out {
			fmt.Fprintf(&b, "  %s -> %s%s;\n", g.nodes[i].dotName(), g.nodes[a.to].dotName(), a.dotStyle())
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func (n *node) dotName() string {
	if n.key == "" {
		return "root"
	}
	return `"` + dotText(plain(n.key)) + `"`
}

func (g *Graph) dotLines(n *node, o Options) []string {
	lines := n.lines(o)
	for i := range lines {
		lines[i] = dotText(lines[i])
	}
	return lines
}

func (n *node) dotStyle() string {
	switch {
	case n.key == "":
		return ", penwidth=2"
	case n.missing:
		return `, style="rounded,dotted", color=red`
	case n.dev:
		return `, style="rounded,dashed"`
	}
	return ""
}

func (a arc) dotStyle() string {
	var style []string
	if label := a.wants(); label != "" {
		style = append(style, `label="`+dotText(label)+`"`)
	}
	if a.dev {
		style = append(style, "style=dashed")
	}
	if style == nil {
		return ""
	}
	return " [" + strings.Join(style, ", ") + "]"
}

// dotText writes a text without line breaks between quotation marks. Graphviz reads escapes of its own and HTML's named
// characters there.
func dotText(s string) string {
	return dotEscapes.Replace(s)
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;")

// lines is what stands in the box of a node.
func (n *node) lines(o Options) []string {
	lines := []string{textx.TruncateRunes(plain(n.name), maxName)}
	if n.Version != "" {
		lines = append(lines, textx.TruncateRunes(plain(n.Version), maxName))
	}
	marks := n.marks(true)
	if n.missing && o.Absent != "" {
		marks = []string{o.Absent}
	}
	if n.dev {
		marks = append(marks, "dev")
	}
	for _, m := range marks {
		lines = append(lines, textx.TruncateRunes("("+m+")", maxName))
	}
	if o.Skills {
		for _, s := range n.Skills {
			lines = append(lines, textx.TruncateRunes("· "+s.String(), maxName))
		}
	}
	return lines
}
