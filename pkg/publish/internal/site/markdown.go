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
	maxMarkdown   = 256 << 10 // bytes that are rendered; what is longer is cut
	maxIndent     = 160       // bytes of indentation and of markers of lists and quotes that a line may begin with
	maxDelimiters = 10_000    // of one kind
	maxCells      = 200_000   // of tables
	maxLinkCost   = 100 << 20 // bytes that are looked at where no link of a paragraph is closed
	lowestLevel   = 6         // of headings
)

// prose renders the body of a SKILL.md as HTML that is safe to put into a page: no raw HTML, no images, no link but to
// other sites and to its own headings. Its headings begin one level below the given one and skip none; ids begin with
// the prefix. Text that is made to be slow or deep is shown as it is. The bool says whether it was cut.
//
// The renderer writes each tag itself, from constants, and escapes all else; what it does not know it writes as text.
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

// parse reads a text as CommonMark with the tables, the lists of tasks and the strikethrough of GitHub. It reports
// false for a text that the parser cannot cope with.
func parse(body []byte) (doc *markdown.Document, ok bool) {
	defer func() { ok = recover() == nil }()
	text := strings.ReplaceAll(strings.ToValidUTF8(string(body), "\uFFFD"), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\n", "\r\n") // the parser looks for each of the two to the end of the text
	return (&markdown.Parser{Table: true, Strikethrough: true, TaskListItems: true}).Parse(text), true
}

func plainText(body []byte) string {
	return "<pre>" + html.EscapeString(string(bytes.ToValidUTF8(body, []byte("\uFFFD")))) + "</pre>"
}

// shapes returns what beginnings of lines look like, made when it is first needed.
var shapes = sync.OnceValue(func() (l struct{ markers, bullet, delimiter *regexp.Regexp }) {
	l.markers = regexp.MustCompile(`^[ \t]*(?:(?:[-+*>]|\d{1,9}[.)])[ \t]*)*`)
	l.bullet = regexp.MustCompile(`^ {0,3}[-+*][ \t]+[^ \t\r\n]`) // begins a paragraph, whatever is above
	l.delimiter = regexp.MustCompile(`^[ \t>]*[|:-][|: \t-]*$`)   // the line below the head of a table
	return l
})

// tangled reports whether a text has what no author writes and what parsers take quadratic time for: lists in lists
// without end, and long runs of brackets or emphasis that nothing closes.
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
	return columns*lines > maxCells || linkCost(body) > maxLinkCost // a short row of a wide table is filled up
}

// linkCost returns how many bytes a parser looks at where each address and each title of a link goes on to the end of
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
