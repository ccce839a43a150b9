package page

import (
	_ "embed" // the style of the page
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.960 generate

//go:embed page.css
var style string

// MaxRows limits the rows of a table.
const MaxRows = 100

// Meta describes a document.
type Meta struct {
	Title   string
	Style   string    // rules of this page alone
	Creator string    // the command that creates the page
	Created time.Time // when the page is written
}

// Tile is one of the numbers at the top of a page.
type Tile struct {
	Name, Value string
	Note        string // what explains the number; may be empty
}

// Part is a part of a bar: its color, and its length.
type Part struct {
	Class string
	N     int64
}

// Key is the color of a legend, and what it means.
type Key struct{ Name, Class string }

// Rect is a rectangle of a chart.
type Rect struct {
	Class, Title        string
	X, Y, Width, Height float64
}

// meterRects returns the parts of a bar, scaled so that most fills its length.
func meterRects(most int64, parts []Part) []Rect {
	var rects []Rect
	x := 0.0
	for _, p := range parts {
		width := 100 * float64(p.N) / float64(max(1, most))
		if p.N > 0 {
			rects = append(rects, Rect{Class: p.Class, X: x, Width: max(width, 0.6)})
		}
		x += width
	}
	return rects
}

// Coordinate formats a coordinate.
func Coordinate(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// Visible returns a text on one line, without characters that hide or reorder text.
func Visible(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(Lines(s))
}

// Lines returns a text without characters that hide or reorder text. Line breaks and tabs stay.
func Lines(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && textx.Hidden(r) {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// Plural formats a number with its noun.
func Plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return textx.Thousands(n) + " " + one + "s"
}

// Duration formats a duration in milliseconds.
func Duration(ms int64) string {
	switch s := float64(ms) / 1000; {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + " ms"
	case s < 60:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	case s < 3600:
		return strconv.FormatFloat(s/60, 'f', 1, 64) + " min"
	default:
		return strconv.FormatFloat(s/3600, 'f', 1, 64) + " h"
	}
}
