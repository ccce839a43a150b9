package console

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack/graph"
)

// BytesText formats a number of bytes.
func BytesText(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, 0
	for ; value >= 1023.95 && unit < 3; unit++ {
		value /= 1024
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGT"[unit])
}

// ParseAge parses a duration in weeks, days, or smaller units.
func ParseAge(flag, text string) (time.Duration, error) {
	bad := diag.Errorf(diag.Usage, "--%s %q is not a valid duration", flag, text).
		WithHint("use days, weeks, or hours, such as 7d, 2w, or 36h")
	for unit, hours := range map[string]float64{"d": 24, "w": 7 * 24} {
		number, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n >= 0) || n*hours > 100*365*24 || math.IsNaN(n) {
			return 0, bad
		}
		return time.Duration(n * hours * float64(time.Hour)), nil
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, bad
	}
	return age, nil
}

// Fitted truncates a text to a width. A width of 0 means unlimited.
func Fitted(text string, columns int) string {
	if columns < 20 || Cells([]rune(text)) <= columns {
		return text
	}
	used := 1 // for the ellipsis
	for i, r := range text {
		_, w := PrintableRune(r)
		if used += w; used > columns {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

// Flat returns a pack's text on one line, without control characters.
func Flat(text string) string { return textx.OneLine(PrintableText(text)) }

// MaxArguments is larger than the number of words in any command line.
const MaxArguments = 1 << 20

// Span formats a duration in its largest unit: 90s is 1m.
func Span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// Cells returns the width of a text in columns of a terminal.
func Cells(runes []rune) int {
	n := 0
	for _, r := range runes {
		_, w := PrintableRune(r)
		n += w
	}
	return n
}

// PrintableRune returns the printable form of a character and its width.
func PrintableRune(r rune) (rune, int) {
	switch {
	case ' ' <= r && r <= '~':
		return r, 1
	case r == '\t':
		return ' ', 1
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		return unicode.ReplacementChar, 1
	case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r):
		return r, 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return r, 2
	}
	return r, 1
}

// OneLine joins the lines of a text with spaces.
func OneLine(s string) string { return strings.ReplaceAll(PrintableText(s), "\n", " ") }

// Tree colors a line of a tree.
func (p Palette) Tree(part graph.Part, text string) string {
	switch part {
	case graph.PartName:
		return p.Bold(text)
	case graph.PartBranch, graph.PartRange:
		return p.Dim(text)
	case graph.PartSkill:
		return p.Cyan(text)
	case graph.PartMark:
		return p.Yellow(text)
	default:
		return text
	}
}
