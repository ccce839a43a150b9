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
		fmt.Fprintf(&b, "  %s [label=\"%s\"%s];\n", n.dotName(), dotText(strings.Join(n.lines(o), "\n")), n.dotStyle())
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
	return `"` + dotText(printable(n.key)) + `"`
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
	if label := a.label(); label != "" {
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

// dotText escapes a text without line breaks for a quoted string, in which Graphviz also reads HTML's named characters.
func dotText(s string) string { return dotEscapes.Replace(s) }

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`)

// lines returns the text in the box of a node.
func (n *node) lines(o Options) []string {
	lines := []string{textx.TruncateRunes(printable(n.name), maxName)}
	if n.Version != "" {
		lines = append(lines, textx.TruncateRunes(printable(n.Version), maxName))
	}
	remarks := n.remarks(true)
	if n.missing && o.Missing != "" {
		remarks = []string{o.Missing}
	}
	if n.dev {
		remarks = append(remarks, "dev")
	}
	for _, r := range remarks {
		lines = append(lines, textx.TruncateRunes("("+r+")", maxName))
	}
	if o.Skills {
		for _, s := range n.Skills {
			lines = append(lines, textx.TruncateRunes("· "+s.String(), maxName))
		}
	}
	return lines
}
