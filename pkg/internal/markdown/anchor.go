package markdown

import (
	"html"
	"slices"
	"strings"
	"unicode"
)

// anchor is a target of links within a page: the text of a heading, or an id or name of HTML.
type anchor struct {
	parts int  // of Page.parts, after those of the anchors before it
	html  bool // entities in it are to be resolved
}

// HasAnchor reports whether a page has the anchor of a URL's fragment. Renderers differ in how they name a heading, so
// only letters and digits count, in any case; the number of a repeated heading does not count; the end of a heading is
// enough, for "Title {#anchor}". Every page has a top.
func (p *Page) HasAnchor(fragment string) bool {
	folded := foldAnchor(fragment)
	if folded == "" || folded == "top" {
		return true
	}
	p.once.Do(p.foldAnchors)
	backwards := reverse(folded)
	i, _ := slices.BinarySearch(p.names, backwards)
	if i < len(p.names) && strings.HasPrefix(p.names[i], backwards) {
		return true
	}
	_, found := slices.BinarySearch(p.names, reverse(strings.TrimRight(folded, "0123456789")))
	return found
}

func (p *Page) foldAnchors() {
	p.names = make([]string, 0, len(p.anchors))
	next := 0
	var text []byte
	for _, a := range p.anchors {
		text = text[:0]
		for _, part := range p.parts[next : next+a.parts] {
			text = append(text, p.text[part.start:part.end]...)
			if !a.html {
				text = append(text, ' ') // what is left out must not make one character of halves of it
			}
		}
		next += a.parts
		name := string(text)
		if a.html {
			name = html.UnescapeString(name)
		}
		p.names = append(p.names, reverse(foldAnchor(name)))
	}
	slices.Sort(p.names)
}

// foldAnchor reduces an anchor to its letters and digits.
func foldAnchor(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// reverse turns the bytes of a string around, so that a suffix becomes a prefix.
func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
