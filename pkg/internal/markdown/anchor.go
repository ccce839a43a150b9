package markdown

import (
	"html"
	"slices"
	"strings"
	"unicode"
)

// anchor is a target of links within a page: the text of a heading, or an id or name of HTML.
type anchor struct {
	parts int  // index in Page.parts after the parts of earlier anchors
	html  bool // entities must be resolved
}

// HasAnchor reports whether a page has the anchor of a URL's fragment. Renderers name headings differently, so only
// letters and digits are compared, ignoring case. The number of a repeated heading is ignored, and the end of a heading
// is enough, for "Title {#anchor}". Every page has a top.
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
				text = append(text, ' ') // removed bytes must not join halves of a character
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

// reverse reverses the bytes of a string, so that a suffix becomes a prefix.
func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
