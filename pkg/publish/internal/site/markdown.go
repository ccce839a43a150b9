package site

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"sync"

	"rsc.io/markdown"
)

const (
	maxMarkdown   = 256 << 10 // bytes to render; longer texts are truncated
	maxIndent     = 160       // bytes of indentation and of list and quote markers at the start of a line
	maxDelimiters = 10_000    // of one kind
	maxCells      = 200_000   // of tables
	maxLinkCost   = 100 << 20 // bytes that are scanned for links that are not closed
	lowestLevel   = 6         // of headings
)

// prose renders the body of a SKILL.md as safe HTML: no raw HTML, no images, and only links to other sites and to its
// own headings. Its headings begin one level below the given one and skip no level; ids begin with the prefix. Text
// that is designed to be slow or deeply nested is shown as plain text. The bool reports truncation.
//
// The renderer writes each tag from constants and escapes everything else. It writes unknown nodes as text.
func prose(body []byte, level int, prefix string) (text string, cut bool) {
	cut = len(body) > maxMarkdown
	if cut {
		body = body[:bytes.LastIndexByte(body[:maxMarkdown], '\n')+1]
	}
	if body = lines(body); tangled(body) {
		return plainText(body), cut
	}
	doc, ok := parse(body)
	if !ok {
		return plainText(body), cut
	}
	r := renderer{prefix: prefix, base: level, ids: map[string]int{}}
	r.blocks(doc.Blocks)
	return r.String(), cut
}

// parse parses a text as CommonMark with GitHub's tables, task lists, and strikethrough. It returns false for a text
// that would take the parser too long.
func parse(body []byte) (doc *markdown.Document, ok bool) {
	defer func() { ok = recover() == nil }()
	text := strings.ReplaceAll(strings.ToValidUTF8(string(body), "\uFFFD"), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\n", "\r\n") // the parser searches for each of these up to the end of the text
	return (&markdown.Parser{Table: true, Strikethrough: true, TaskListItems: true}).Parse(text), true
}

func plainText(body []byte) string {
	return "<pre>" + html.EscapeString(string(bytes.ToValidUTF8(body, []byte("\uFFFD")))) + "</pre>"
}

// shapes returns patterns for the starts of lines, compiled on first use.
var shapes = sync.OnceValue(func() (l struct{ markers, bullet, delimiter *regexp.Regexp }) {
	l.markers = regexp.MustCompile(`^[ \t]*(?:(?:[-+*>]|\d{1,9}[.)])[ \t]*)*`)
	l.bullet = regexp.MustCompile(`^ {0,3}[-+*][ \t]+[^ \t\r\n]`) // starts a paragraph after any line
	l.delimiter = regexp.MustCompile(`^[ \t>]*[|:-][|: \t-]*$`)   // the line below a table's header
	return l
})

// tangled reports whether a text has constructs that authors do not write and that take parsers quadratic time:
// excessively nested lists, and long runs of unclosed brackets or emphasis.
func tangled(body []byte) bool {
	columns, lines, patterns := 0, 0, shapes()
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, " \t\r\n")
		lines++
		indent := patterns.markers.Find(line)
		if rule := len(indent) == len(line) && len(bytes.Trim(line, "-* \t")) == 0; !rule && len(indent) > maxIndent {
			return true
		}
		if patterns.delimiter.Match(line) {
			columns = max(columns, bytes.Count(line, []byte("|"))+1)
		}
	}
	for _, b := range []string{"[", "*", "_", "`", "<", "~"} {
		if bytes.Count(body, []byte(b)) > maxDelimiters {
			return true
		}
	}
	return columns*lines > maxCells || linkCost(body) > maxLinkCost // short rows of a wide table are padded
}

// linkCost returns the number of bytes that a parser scans if each address and title of a link continues to the end of
// its paragraph.
func linkCost(body []byte) (cost int) {
	links, size, patterns := 0, 0, shapes()
	for line := range bytes.Lines(body) {
		if len(bytes.TrimSpace(line)) == 0 || patterns.bullet.Match(line) {
			cost += links * size
			links, size = 0, 0
		}
		links += bytes.Count(line, []byte("](")) + bytes.Count(line, []byte("]:"))
		size += len(line)
	}
	return cost + links*size
}
