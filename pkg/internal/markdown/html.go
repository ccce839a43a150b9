package markdown

import (
	"bytes"
	"strings"
)

// The kinds of HTML blocks, numbered as in CommonMark.
const (
	htmlText        = 1 // script, style, pre, textarea
	htmlComment     = 2
	htmlInstruction = 3
	htmlDeclaration = 4
	htmlData        = 5
	htmlBlock       = 6
	htmlTag         = 7
)

// startHTML opens a block of HTML. As in goldmark, a tab must not indent it.
func (r *Reader) startHTML(o *opening) start {
	if r.tabbed() {
		return noStart
	}
	b := r.text[r.next:r.stop]
	kind := htmlKind(b, o.paragraph)
	r.steps += len(b)
	if kind == 0 {
		return noStart
	}
	r.begin(o)
	r.leaf, r.html = htmlLeaf, kind
	r.ended = kind <= htmlData && endsHTML(kind, b)
	if kind == htmlText {
		r.codes = append(r.codes, extent{r.next, r.stop})
		return leafStart
	}
	r.leaves = append(r.leaves, leaf{kind: htmlLeaf, note: r.note, start: r.pos, stop: r.stop, first: len(r.starts)})
	r.addHTML()
	return leafStart
}

// continueHTML adds the line to the open block of HTML.
func (r *Reader) continueHTML() bool {
	if r.ended || r.pos >= r.stop {
		return false
	}
	if r.html > htmlData && r.blank() {
		return false
	}
	closes := r.html <= htmlData && endsHTML(r.html, r.text[r.pos:r.stop])
	if r.html == htmlText {
		r.codes[len(r.codes)-1].end = r.stop
	} else {
		r.addHTML()
	}
	if closes {
		r.leaf = noLeaf
	}
	return true
}

// addHTML adds the rest of the line to the open block of HTML.
func (r *Reader) addHTML() {
	l := &r.leaves[len(r.leaves)-1]
	l.stop = r.stop
	if len(r.stack) > 0 {
		r.starts = append(r.starts, r.pos)
		l.count++
	}
}

// endsHTML reports whether a line ends a block of HTML of the first five kinds.
func endsHTML(kind int, line []byte) bool {
	switch kind {
	case htmlComment:
		return bytes.Contains(line, []byte("-->"))
	case htmlInstruction:
		return bytes.Contains(line, []byte("?>"))
	case htmlDeclaration:
		return bytes.IndexByte(line, '>') >= 0
	case htmlData:
		return bytes.Contains(line, []byte("]]>"))
	}
	for {
		i := bytes.Index(line, []byte("</"))
		if i < 0 {
			return false
		}
		line = line[i+2:]
		name := tagName(line)
		if len(name) < len(line) && line[len(name)] == '>' && isTextTag(name) {
			return true
		}
	}
}

// htmlKind returns the kind of the HTML block that a line with a leading < starts, or 0.
func htmlKind(line []byte, paragraph bool) int {
	rest := line[1:]
	switch {
	case len(rest) == 0:
		return 0
	case rest[0] == '!':
		return declarationKind(rest[1:])
	case rest[0] == '?':
		return htmlInstruction
	}
	closing := rest[0] == '/'
	spaced := false
	if closing {
		rest = rest[1:]
		for len(rest) > 0 && rest[0] == ' ' {
			rest, spaced = rest[1:], true
		}
	}
	name := tagName(rest)
	if len(name) == 0 {
		return 0
	}
	rest = rest[len(name):]
	if !closing && isTextTag(name) && endsName(rest, true) {
		return htmlText
	}
	attributes, complete := completeTag(rest)
	if isBlockTag(name) {
		if complete || endsName(rest, false) {
			return htmlBlock
		}
		return 0
	}
	if !complete || paragraph || closing && !spaced && attributes || isTextTag(name) && len(name) != len("textarea") {
		return 0
	}
	return htmlTag
}

func declarationKind(rest []byte) int {
	switch {
	case bytes.HasPrefix(rest, []byte("--")):
		return htmlComment
	case len(rest) > 0 && rest[0] >= 'A' && rest[0] <= 'Z':
		return htmlDeclaration
	case bytes.HasPrefix(rest, []byte("[CDATA[")):
		return htmlData
	}
	return 0
}

// tagName returns the name of an element at the start of a text.
func tagName(b []byte) []byte {
	if len(b) == 0 || !isLetter(b[0]) {
		return nil
	}
	i := 1
	for i < len(b) && (isAlnum(b[i]) || b[i] == '-') {
		i++
	}
	return b[:i]
}

// endsName reports whether a block can start after a name: a space, the end of the tag, or the end of the line follows.
func endsName(rest []byte, anySpace bool) bool {
	if len(rest) == 0 {
		return true
	}
	switch rest[0] {
	case ' ', '>', '\n':
		return true
	case '/':
		return len(rest) > 1 && rest[1] == '>'
	case '\r':
		return anySpace || bytes.Equal(rest, []byte("\r\n"))
	case '\t', '\f':
		return anySpace
	}
	return false
}

// completeTag reports whether the rest of a line after a name is exactly the rest of one tag, and whether the tag has
// attributes.
func completeTag(rest []byte) (attributes, complete bool) {
	i := 0
	for {
		next := completeAttribute(rest, i)
		if next < 0 {
			return attributes, false
		}
		if next == i {
			break
		}
		i, attributes = next, true
	}
	i = skipSpaces(rest, i)
	if i < len(rest) && rest[i] == '/' {
		i++
	}
	if i >= len(rest) || rest[i] != '>' {
		return attributes, false
	}
	i = skipSpaces(rest, i+1)
	end := string(rest[i:])
	return attributes, end == "" || end == "\n" || end == "\r\n"
}

func skipSpaces(b []byte, i int) int {
	for i < len(b) && b[i] == ' ' {
		i++
	}
	return i
}

// completeAttribute returns the end of the attribute that starts at i with space and a name. It returns i if there is
// none, and -1 if its value is invalid.
func completeAttribute(b []byte, i int) int {
	name := skipSpace(b, i)
	if name == i || name >= len(b) || !isNameStart(b[name]) {
		return i
	}
	end := name
	for end < len(b) && isNameByte(b[end]) {
		end++
	}
	value := skipSpace(b, end)
	if value >= len(b) || b[value] != '=' {
		return end
	}
	value = skipSpace(b, value+1)
	if value >= len(b) {
		return -1
	}
	if q := b[value]; q == '"' || q == '\'' {
		n := bytes.IndexByte(b[value+1:], q)
		if n < 0 {
			return -1
		}
		return value + 1 + n + 1
	}
	end = value
	for end < len(b) && isValueByte(b[end]) {
		end++
	}
	if end == value {
		return -1
	}
	return end
}

func isNameStart(c byte) bool { return isLetter(c) || c == '_' || c == ':' }

func isNameByte(c byte) bool { return isAlnum(c) || c == ':' || c == '.' || c == '_' || c == '-' }

// isValueByte reports whether an unquoted value may contain a byte.
func isValueByte(c byte) bool {
	switch c {
	case '"', '\'', '=', '<', '>', '`':
		return false
	}
	return c > ' '
}

// isTextTag reports whether an element's content is text instead of HTML.
func isTextTag(name []byte) bool {
	if len(name) > len("textarea") {
		return false
	}
	switch strings.ToLower(string(name)) {
	case "script", "pre", "style", "textarea":
		return true
	}
	return false
}

// isBlockTag reports whether an element's tag at the start of a line always starts a block of HTML.
func isBlockTag(name []byte) bool {
	if len(name) > len("blockquote") {
		return false
	}
	switch strings.ToLower(string(name)) {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col",
		"colgroup",
		"dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
		"frame",
		"frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "legend", "li",
		"link",
		"main", "menu", "menuitem", "meta", "nav", "noframes", "ol", "optgroup", "option", "p", "param", "search",
		"section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "track", "ul":
		return true
	}
	return false
}
