package lint

import (
	"bytes"
	"sort"
)

// span is a part of a page.
type span struct{ start, end int }

// inComment reports whether a byte of the page is in an HTML comment.
func (p *page) inComment(offset int) bool {
	i := sort.Search(len(p.Comments), func(i int) bool { return p.Comments[i].End > offset })
	return i < len(p.Comments) && p.Comments[i].Offset <= offset
}

// inExample reports whether a byte of the page is in what its author means as a code block, though Markdown reads the
// fences differently, or in a line of a template.
func (p *page) inExample(offset int) bool {
	if p.examples == nil {
		p.examples = nestedFences(p.src.data)
	}
	rest := p.examples
	i := sort.Search(len(rest), func(i int) bool { return rest[i].end > offset })
	return i < len(rest) && rest[i].start <= offset || isTemplateLine(p.src.data, offset)
}

// maxTemplateLine is how many bytes of a line are searched for placeholders.
const maxTemplateLine = 500

// isTemplateLine reports whether the line of an offset, or the line before it, has a placeholder in brackets, such as
// [Description].
func isTemplateLine(text []byte, at int) bool {
	from, to := max(0, at-maxTemplateLine), min(len(text), at+maxTemplateLine)
	start := from
	if i := bytes.LastIndexByte(text[from:at], '\n'); i >= 0 {
		start = from + max(0, bytes.LastIndexByte(text[from:from+i], '\n'))
	}
	if i := bytes.IndexByte(text[at:to], '\n'); i >= 0 {
		to = at + i
	}
	for line := text[start:to]; ; {
		i := bytes.IndexByte(line, '[')
		if i < 0 {
			return false
		}
		line = line[i+1:]
		end := bytes.IndexByte(line, ']')
		if end < 0 {
			return false
		}
		placeholder := end > 2 && line[0] >= 'A' && line[0] <= 'Z' && bytes.IndexByte(line[:end], '[') < 0
		if line = line[end+1:]; placeholder && (len(line) == 0 || bytes.IndexByte([]byte("([:"), line[0]) < 0) {
			return true
		}
		if len(line) > 1 && line[0] == ':' && line[1] == ' ' && placeholder {
			return true
		}
	}
}

// fence is an opening fence of a code block.
type fence struct {
	char   byte
	length int
	info   bool // it has a language
}

// parseFence parses a line as a fence; ok is false if it is not one.
func parseFence(line []byte) (f fence, ok bool) {
	mark := bytes.TrimLeft(line, " \t>")
	n := 0
	for n < len(mark) && n < 100 && (mark[0] == '`' || mark[0] == '~') && mark[n] == mark[0] {
		n++
	}
	if n < 3 || bytes.IndexByte(mark[n:], '`') >= 0 {
		return fence{}, false
	}
	return fence{mark[0], n, len(bytes.TrimSpace(mark[n:])) > 0}, true
}

// nestedFences returns what authors mean as code blocks, in two cases. A fence with a language inside of another one
// starts a nested block, at the end of which Markdown ends the outer one. A fence without a language that opens a block
// with such a fence was meant to end one that starts with the last heading. What is never closed is left out.
func nestedFences(text []byte) []span {
	var open []fence
	found := []span{}
	heading, opened, ended := 0, 0, -1 // where Markdown ended the outer block
	for at := 0; at < len(text); {
		start := at
		line, length := cutLine(text[at:])
		at += length
		f, ok := parseFence(line)
		if !ok {
			if len(open) == 0 && bytes.HasPrefix(line, []byte("#")) {
				heading = start
			}
			continue
		}
		switch top := len(open) - 1; {
		case top < 0:
			open, opened = append(open, f), start
		case f.char != open[top].char || f.length < open[top].length:
		case f.info && f.length == open[top].length && top == 0 && !open[0].info:
			found = append(found, span{heading, opened})
			open[0], heading = f, start
		case f.info && f.length == open[top].length:
			open = append(open, f)
		case f.info:
		default:
			if open = open[:top]; top > 0 && ended < 0 {
				ended = at
			} else if top == 0 && ended >= 0 {
				found = append(found, span{ended, at})
				ended = -1
			}
			heading = at
		}
	}
	return found
}

// cutLine returns the first line of a text without its ending, and its length with the ending.
func cutLine(text []byte) (line []byte, length int) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i], i + 1
	}
	return text, len(text)
}

// hasHeading reports whether a page has an anchor, if the headings in its code blocks count: what its author means as a
// heading may be in a code block that is not closed.
func (p *page) hasHeading(fragment string) bool {
	if p.HasAnchor(fragment) {
		return true
	}
	if p.headings == nil {
		p.headings = p.readers.read(headingLines(p.src), 0)
	}
	return p.headings.HasAnchor(fragment)
}

// headingLines returns the lines of a page that are headings if they are not in a code block.
func headingLines(src *source) *source {
	var lines []byte
	for line := range bytes.Lines(src.data) {
		if bytes.HasPrefix(line, []byte("#")) {
			lines = append(lines, line...)
		}
	}
	return newSource(src.path, lines)
}
