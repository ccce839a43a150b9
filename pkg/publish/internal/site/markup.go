package site

import (
	"bytes"
	"html"
	"strconv"
	"strings"
)

// markup is HTML: constants of this package, what the Markdown renderer made, pictures of pkg/pack/graph. All else is text, which
// [out.put] escapes. html/template would do the same and make the program 4 MB larger: it finds methods by their names, so
// that the linker can leave out none.
type markup string

// out is a page that is being written.
type out struct {
	bytes.Buffer
	root string // what leads from the page to the root of the catalogue
}

// put writes markup in which each % stands for an argument: a text or a number, which is escaped, or markup. Arguments
// stand in text or in quoted attributes; one that is an address is made by this package, see [out.href] and outside.
func (o *out) put(format markup, args ...any) {
	rest := string(format)
	for _, arg := range args {
		before, after, _ := strings.Cut(rest, "%")
		o.WriteString(before)
		switch v := arg.(type) {
		case markup:
			o.WriteString(string(v))
		case string:
			o.WriteString(html.EscapeString(v))
		case int:
			o.WriteString(strconv.Itoa(v))
		}
		rest = after
	}
	o.WriteString(rest)
}

// href returns the address of a path below the root of the catalogue.
func (o *out) href(path string) string { return o.root + path }

// link writes a link to a path below the root of the catalogue.
func (o *out) link(path, text string) { o.put(`<a href="%">%</a>`, o.href(path), text) }

// external writes a text as a link to another site where it is an address, else as it is.
func (o *out) external(text string, plain markup) {
	if to := outside(text); to != "" {
		o.put(`<a rel="nofollow noopener noreferrer" href="%">%</a>`, to, text)
		return
	}
	o.put(plain, text)
}

// when writes the day of a time.
func (o *out) when(published string) {
	if human, machine := date(published); human != "" {
		o.put(`<time datetime="%">%</time>`, machine, human)
	}
}

// copied writes a line with a button that copies it.
func (o *out) copied(text, what string) {
	o.put(`<div class="command"><code>%</code><button type="button" class="copy" data-copy="%" aria-label="Copy %"><span aria-hidden="true">Copy</span></button></div>
`, text, text, what)
}

// badge writes a short remark.
func (o *out) badge(class, text string) {
	o.put(`<span class="%">%</span>`, strings.TrimSpace("badge "+class), text)
}

// count writes a number with what it counts.
func count(n int, one, many string) string { return plural(int64(n), one, many) }
