package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// cell is a text of a grid and its colour: 'r' red, 'g' green, 'y' yellow, 'c' cyan, 'b' bold, 0 none.
type cell struct {
	text   string
	colour rune
}

func severityColour(s diag.Severity) rune {
	switch s {
	case diag.SeverityError:
		return 'r'
	case diag.SeverityWarning:
		return 'y'
	default:
		return 'c'
	}
}

// grid is a table that keeps its columns straight whatever the colours and widths of characters.
type grid struct {
	palette
	rows   [][]cell
	widths []int
}

func (g *grid) add(row ...cell) {
	for i, c := range row {
		if i == len(g.widths) {
			g.widths = append(g.widths, 0)
		}
		g.widths[i] = max(g.widths[i], cells([]rune(c.text)))
	}
	g.rows = append(g.rows, row)
}

// write prints the rows with two spaces between columns; a column with nothing in it is left out.
func (g *grid) write(w io.Writer) {
	for _, row := range g.rows {
		var b strings.Builder
		gap := 0
		for i, c := range row {
			if g.widths[i] == 0 {
				continue
			}
			b.WriteString(strings.Repeat(" ", gap))
			b.WriteString(g.painted(c))
			gap = g.widths[i] - cells([]rune(c.text)) + 2
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

func (g *grid) painted(c cell) string {
	switch c.colour {
	case 'r':
		return g.red(c.text)
	case 'g':
		return g.green(c.text)
	case 'y':
		return g.yellow(c.text)
	case 'c':
		return g.cyan(c.text)
	case 'b':
		return g.bold(c.text)
	}
	return c.text
}
