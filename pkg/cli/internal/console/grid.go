package console

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Cell is a text with a role.
type Cell struct {
	Text string
	Role Role
}

// Grid is a table that aligns columns regardless of colors and character widths.
type Grid struct {
	Palette
	Width  int    // of the terminal, in columns; wider cells are wrapped. 0: no limit
	home   string // the home directory, which cells abbreviate
	rows   [][]Cell
	widths []int
	least  [2][]int // the widths of columns without broken names and words, and with names that end at hyphens
}

// NewGrid returns a table for a stream.
func NewGrid(w io.Writer, p Palette) *Grid {
	return &Grid{Palette: p, Width: TerminalWidth(w), home: homeOf(w)}
}

// Grid returns a table for standard output.
func (a *App) Grid() *Grid { return NewGrid(a.Stdout, a.Palette(a.Stdout)) }

// Add adds a row.
func (g *Grid) Add(row ...Cell) {
	for i, c := range row {
		c.Text = WithTilde(g.home, c.Text)
		row[i] = c
		if i == len(g.widths) {
			g.widths = append(g.widths, 0)
			for n := range g.least {
				g.least[n] = append(g.least[n], leastColumn)
			}
		}
		for n, separators := range [...]string{wordSeparators, anySeparators} {
			g.least[n][i] = max(g.least[n][i], leastWidth(c.Text, separators))
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
				cells[i] = Wrap(shortDigests(c.Text, widths[i]), widths[i])
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
					b.WriteString(g.Paint(c.Role, c.Text))
				}
				gap = widths[i] - Cells([]rune(c.Text)) + 2
			}
			fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		}
	}
}

const (
	leastColumn = 8 // the width to which a column may shrink
	leastDigits = 8 // the digits that a shortened digest keeps
)

// fitted returns the widths of the columns so that they fit the terminal: the widest ones shrink, first those that can
// without breaking words.
func (g *Grid) fitted() []int {
	widths := slices.Clone(g.widths)
	used := -2
	for _, n := range widths {
		if n > 0 {
			used += n + 2
		}
	}
	for g.Width > 0 && used > g.Width {
		widest := -1
		for _, least := range [][]int{g.least[0], g.least[1], slices.Repeat([]int{leastColumn}, len(widths))} {
			if widest = widestColumn(widths, least); widest >= 0 {
				break
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		used--
	}
	return widths
}

// widestColumn returns the widest of the columns that are wider than their least width, or -1.
func widestColumn(widths, least []int) int {
	widest := -1
	for i, n := range widths {
		if n > least[i] && (widest < 0 || n > widths[widest]) {
			widest = i
		}
	}
	return widest
}

// leastWidth returns the width of the longest part of a text that should stay on one line.
func leastWidth(text, separators string) (width int) {
	for _, d := range digest.FindAllStringSubmatch(text, -1) {
		width = max(width, len(d[1])+leastDigits+1) // and the ellipsis
	}
	for word := range strings.FieldsSeq(digest.ReplaceAllString(text, "")) {
		for _, part := range splitAfter(word, separators) {
			width = max(width, Cells([]rune(part)))
		}
	}
	return width
}

// digest matches a digest, or the start of one: its algorithm, and its digits.
var digest = regexp.MustCompile(`\b((?:[a-z][a-z0-9]*:)?sha(?:256|384|512):)([0-9a-f]{8})[0-9a-f]+`)

// shortDigests truncates the digests of a text that are wider than a line.
func shortDigests(text string, width int) string {
	return digest.ReplaceAllStringFunc(text, func(d string) string {
		n := width - 1
		if len(d) <= width || n < strings.LastIndex(d, ":")+1+leastDigits {
			return d
		}
		return d[:n] + "…"
	})
}
