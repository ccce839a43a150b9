package console

import (
	"fmt"
	"io"
	"slices"
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
	Width  int // of the terminal, in columns; wider cells are wrapped. 0: no limit
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
	widths := g.fitted()
	for _, row := range g.rows {
		cells, height := make([][]string, len(row)), 1
		for i, c := range row {
			cells[i] = []string{c.Text}
			if Cells([]rune(c.Text)) > widths[i] {
				cells[i] = Wrap(c.Text, widths[i])
			}
			height = max(height, len(cells[i]))
		}
		for line := range height {
			var b strings.Builder
			gap := 0
			for i, c := range row {
				if widths[i] == 0 {
					continue
				}
				c.Text = ""
				if line < len(cells[i]) {
					c.Text = cells[i][line]
				}
				b.WriteString(strings.Repeat(" ", gap))
				if c.Text != "" {
					b.WriteString(g.Painted(c))
				}
				gap = widths[i] - Cells([]rune(c.Text)) + 2
			}
			fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		}
	}
}

// leastColumn is the width to which a column may shrink.
const leastColumn = 8

// fitted returns the widths of the columns so that they fit the terminal: the widest ones shrink.
func (g *Grid) fitted() []int {
	widths := slices.Clone(g.widths)
	used := -2
	for _, n := range widths {
		if n > 0 {
			used += n + 2
		}
	}
	for g.Width > 0 && used > g.Width {
		widest := 0
		for i, n := range widths {
			if n > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastColumn {
			break
		}
		widths[widest]--
		used--
	}
	return widths
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
