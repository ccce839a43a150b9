package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Cell is a text with a color: 'r' red, 'g' green, 'y' yellow, 'c' cyan, 'b' bold, 0 none.
type Cell struct {
	Text  string
	Color rune
}

// SeverityColor returns the color of a severity.
func SeverityColor(s diag.Severity) rune {
	switch s {
	case diag.SeverityError:
		return 'r'
	case diag.SeverityWarning:
		return 'y'
	default:
		return 'c'
	}
}

// Grid is a table that aligns columns regardless of colors and character widths.
type Grid struct {
	Palette
	rows   [][]Cell
	widths []int
}

// Add adds a row.
func (g *Grid) Add(row ...Cell) {
	for i, c := range row {
		if i == len(g.widths) {
			g.widths = append(g.widths, 0)
		}
		g.widths[i] = max(g.widths[i], Cells([]rune(c.Text)))
	}
	g.rows = append(g.rows, row)
}

// Write prints the rows with two spaces between columns, without empty columns.
func (g *Grid) Write(w io.Writer) {
	for _, row := range g.rows {
		var b strings.Builder
		gap := 0
		for i, c := range row {
			if g.widths[i] == 0 {
				continue
			}
			b.WriteString(strings.Repeat(" ", gap))
			b.WriteString(g.Painted(c))
			gap = g.widths[i] - Cells([]rune(c.Text)) + 2
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// Painted returns a cell with its color, if colors are enabled.
func (g *Grid) Painted(c Cell) string {
	switch c.Color {
	case 'r':
		return g.Red(c.Text)
	case 'g':
		return g.Green(c.Text)
	case 'y':
		return g.Yellow(c.Text)
	case 'c':
		return g.Cyan(c.Text)
	case 'b':
		return g.Bold(c.Text)
	}
	return c.Text
}
