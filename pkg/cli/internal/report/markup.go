package report

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode"
)

// markup is HTML: constants of this package. All else is text, which [out.put] escapes. See pkg/publish/internal/site
// for why this is not html/template.
type markup string

// out is a page that is being written.
type out struct{ bytes.Buffer }

// put writes markup in which each % stands for an argument: a text or a number, which is escaped, or markup. Arguments
// stand in text or in quoted attributes.
func (o *out) put(format markup, args ...any) {
	rest := string(format)
	for _, arg := range args {
		before, after, _ := strings.Cut(rest, "%")
		o.WriteString(before)
		switch v := arg.(type) {
		case markup:
			o.WriteString(string(v))
		case string:
			o.WriteString(html.EscapeString(visible(v)))
		case int64:
			o.WriteString(thousands(v))
		case float64: // of a picture
			o.WriteString(strconv.FormatFloat(v, 'f', 2, 64))
		}
		rest = after
	}
	o.WriteString(rest)
}

// visible returns a text without what steers how it is shown.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 &&
			r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c, r >= 0xe0000 && r <= 0xe007f:
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes a number with what it counts.
func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + one + "s"
}
