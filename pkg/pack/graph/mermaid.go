package graph

import (
	"fmt"
	"strings"
)

// Mermaid writes the graph as a flowchart of Mermaid (https://mermaid.js.org/syntax/flowchart.html), which many hosts
// of repositories draw in Markdown. Mermaid itself refuses more than 500 edges unless it is configured otherwise.
func (g *Graph) Mermaid(o Options) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	var dev, missing []string
	for i := range g.nodes {
		n := &g.nodes[i]
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", i, mermaidText(strings.Join(n.lines(o), "\n")))
		switch {
		case n.missing:
			missing = append(missing, fmt.Sprintf("n%d", i))
		case n.dev:
			dev = append(dev, fmt.Sprintf("n%d", i))
		}
	}
	for i := range g.nodes {
		for _, a := range g.nodes[i].out {
			arrow := "-->"
			if a.dev {
				arrow = "-.->"
			}
			if label := a.label(); label != "" {
				arrow += `|"` + mermaidText(label) + `"|`
			}
			fmt.Fprintf(&b, "  n%d %s n%d\n", i, arrow, a.to)
		}
	}
	mermaidClass(&b, "dev", "stroke-dasharray: 4 3", dev)
	mermaidClass(&b, "missing", "stroke: red", missing)
	return b.String()
}

func mermaidClass(b *strings.Builder, name, style string, nodes []string) {
	if len(nodes) > 0 {
		fmt.Fprintf(b, "  classDef %s %s\n  class %s %s\n", name, style, strings.Join(nodes, ","), name)
	}
}

// mermaidText escapes a text for a quoted string: characters that may mean something to Mermaid, Markdown or HTML
// become their numbers.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("<br/>")
		case r >= 0x80, r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z',
			strings.ContainsRune(" ./-,^=()", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
