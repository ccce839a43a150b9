package skill

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a [Problem].
type Kind int

// Kinds of problems that [Parse] reports.
const (
	NoFrontmatter Kind = iota + 1 // the file does not start with ---
	LeadingText                   // there is content before the opening ---
	Unclosed                      // there is no closing ---
	BadYAML                       // a field, or all of it, is not valid YAML
	Tab                           // a tab is used for indentation
	NotMapping                    // the YAML is not a mapping
	DuplicateKey                  // a duplicate key
	ByteOrderMark                 // the file starts with a byte order mark
	NotUTF8                       // the file is not UTF-8
)

// Problem is an error in the form of a SKILL.md.
type Problem struct {
	Kind    Kind
	Line    int // from 1
	Column  int // from 1, in code points
	Message string
	Fix     string
}

var bom = []byte("\xef\xbb\xbf")

// Parse parses a SKILL.md. It always returns a document with everything that can be parsed. The problems are sorted by
// line.
func Parse(data []byte) (*Document, []Problem) {
	p := &parser{doc: &Document{Source: data, EOL: "\n"}}
	p.parse()
	return p.doc, p.problems
}

type parser struct {
	doc      *Document
	problems []Problem

	brokenLine int // the first line of the file that is not valid YAML, or 0
}

// maxProblems limits the problems that are reported for one file.
const maxProblems = 200

func (p *parser) add(kind Kind, line, column int, message, fix string) {
	if len(p.problems) >= maxProblems {
		return
	}
	p.problems = append(p.problems, Problem{Kind: kind, Line: line, Column: column, Message: message, Fix: fix})
}

func (p *parser) parse() {
	d := p.doc
	start := 0
	if bytes.HasPrefix(d.Source, bom) {
		d.BOM = true
		start = len(bom)
		p.add(ByteOrderMark, 1, 1, "the file starts with a byte order mark",
			"save the file as UTF-8 without a byte order mark")
	}
	if i := bytes.IndexByte(d.Source, '\n'); i > 0 && d.Source[i-1] == '\r' {
		d.EOL = "\r\n"
	}
	d.BodyStart, d.BodyLine = start, 1
	if offset, line, col := invalidUTF8(d.Source); offset >= 0 {
		p.add(NotUTF8, line, col, "the file is not valid UTF-8", "save the file as UTF-8")
	}
	open, line := p.open(start)
	if open < 0 {
		return
	}
	p.close(open, line)
}

// open finds the opening fence. It returns the offset and number of the next line, or -1.
func (p *parser) open(start int) (int, int) {
	src := p.doc.Source
	if first, next := cutLine(src, start); isFence(first) {
		return next, 2
	}
	if offset, line := lateFence(src, start); offset >= 0 {
		p.add(LeadingText, 1, 1, "unexpected text before the opening ---",
			"start the file with --- on its first line")
		return offset, line
	}
	p.add(NoFrontmatter, 1, 1, "the frontmatter is missing: the first line is not ---",
		"start the file with ---, then name: and description:, then --- again")
	return -1, 0
}

// maxLeading is the maximum number of lines before a late opening fence.
const maxLeading = 20

// lateFence finds an opening fence on a later line, directly followed by a frontmatter field.
func lateFence(src []byte, offset int) (int, int) {
	for line := 1; line <= maxLeading && offset < len(src); line++ {
		text, next := cutLine(src, offset)
		if isFence(text) {
			follower, _ := cutLine(src, next)
			if bytes.HasPrefix(follower, []byte("name:")) || bytes.HasPrefix(follower, []byte("description:")) {
				return next, line + 1
			}
		}
		offset = next
	}
	return -1, 0
}

// close finds the closing fence and parses the text before it.
func (p *parser) close(open, line int) {
	d := p.doc
	d.FrontStart, d.FrontLine = open, line
	for offset, n := open, line; offset < len(d.Source); n++ {
		text, next := cutLine(d.Source, offset)
		if isFence(text) {
			d.FrontEnd, d.BodyStart, d.BodyLine = offset, next, n+1
			p.front()
			return
		}
		offset = next
	}
	p.unclosed(open, line)
}

// unclosed uses the lines that look like fields as the frontmatter, so that other checks have input.
func (p *parser) unclosed(open, line int) {
	d := p.doc
	offset, n := open, line
	for offset < len(d.Source) {
		text, next := cutLine(d.Source, offset)
		if len(bytes.TrimSpace(text)) == 0 || text[0] == '#' {
			break
		}
		offset, n = next, n+1
	}
	p.add(Unclosed, line-1, 1, "the frontmatter is not closed", "add --- on its own line after the last field")
	d.FrontEnd, d.BodyStart, d.BodyLine = offset, offset, n
	before := len(p.problems)
	p.front()
	p.problems = p.problems[:before] // the lines below may be the body
}

// cutLine returns the line at an offset, without its ending, and the offset of the next line.
func cutLine(src []byte, offset int) (line []byte, next int) {
	rest := src[offset:]
	i := bytes.IndexByte(rest, '\n')
	if i < 0 {
		return bytes.TrimSuffix(rest, []byte("\r")), len(src)
	}
	return bytes.TrimSuffix(rest[:i], []byte("\r")), offset + i + 1
}

// isFence reports whether a line is --- with optional trailing space.
func isFence(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t")) == 0
}

// invalidUTF8 returns the offset, line and column of the first byte that is not UTF-8, or -1.
func invalidUTF8(src []byte) (offset, line, column int) {
	if utf8.Valid(src) {
		return -1, 0, 0
	}
	line, column = 1, 1
	for offset < len(src) {
		r, n := utf8.DecodeRune(src[offset:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		if column++; r == '\n' {
			line, column = line+1, 1
		}
		offset += n
	}
	return offset, line, column
}

// FirstParagraph returns the first paragraph of Markdown text that is not a heading, a rule, or a comment, on one line.
// Profiles with an optional description use it instead.
func FirstParagraph(body []byte) string {
	var words []string
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" && len(words) > 0:
			return strings.Join(words, " ")
		case line == "":
		case len(words) == 0 && (line[0] == '#' || strings.HasPrefix(line, "<!--") || isFence([]byte(line))):
		default:
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}
