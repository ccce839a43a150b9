package markdown

import (
	"bytes"
	"iter"
	"sort"
	"sync"
)

// Page is the result of reading a page of Markdown. It keeps the text, which must not change. It is safe for concurrent
// use.
type Page struct {
	// Links are the links, the images, the used reference definitions (each once, at its first use), and the src and
	// href attributes of HTML. They are in display order: footnotes last, by their first use, without unused ones.
	Links []Link
	// Spans are the code spans, in the same order.
	Spans []Span
	// Blocks are the code blocks, in text order.
	Blocks []Block
	// Comments are the HTML comments outside of code, in text order. Text is between <!-- and -->, Offset is that of
	// <!--, and End is after -->. An unclosed comment continues to the end of its block.
	Comments []Span
	// Open is the offset of the opening fence of an unclosed code block, or -1.
	Open int

	text    []byte
	from    int      // where the page starts
	code    []extent // of code blocks with their fences, and of script, style, pre, and textarea
	inline  []extent // of code spans with their backticks
	starts  []int    // starts of the lines of code blocks in containers
	anchors []anchor
	parts   []extent // of the text of anchors
	once    sync.Once
	names   []string // the reversed folded anchors, sorted
}

// Link is one link, image, or other reference.
type Link struct {
	Target string // with escapes and entities resolved, but not percent-encoding
	Offset int    // of the target; of the link if the target is empty
	Width  int    // of the target in the file, in code points; 0 if it is empty
	// The offsets of the text between the brackets; both are 0 for HTML.
	TextStart, TextEnd int
	Image              bool // a Markdown image, not an HTML one
}

// Span is a part of the page.
type Span struct {
	Text   string
	Offset int // of the first byte
	End    int // after the last byte
}

// Block is a code block.
type Block struct {
	Language string // the first word of the info string
	Shell    bool   // fenced, and in a shell language or without a language
	Fenced   bool   // fenced, not indented
	Offset   int    // of the first line of the content
	End      int    // after the last line of the content

	first, lines int // indexes in Page.starts; empty if every line starts at the same position as in the file
}

// extent is a part of the text.
type extent struct{ start, end int }

// Lines returns the lines of a code block with their offsets, without container markers, the code block's indentation,
// and line endings.
func (p *Page) Lines(b Block) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if b.lines > 0 {
			for _, start := range p.starts[b.first : b.first+b.lines] {
				line, _ := cutLine(p.text[start:])
				if !yield(start, line) {
					return
				}
			}
			return
		}
		for at := b.Offset; at < b.End; {
			line, length := cutLine(p.text[at:b.End])
			if !yield(at, line) {
				return
			}
			at += length
		}
	}
}

// cutLine returns the first line of a text without its ending, and its length with the ending.
func cutLine(b []byte) (line []byte, length int) {
	length = len(b)
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		length = i + 1
		b = b[:i]
	}
	return bytes.TrimSuffix(b, []byte("\r")), length
}

// Commands returns the lines of shell code blocks with their offsets.
func (p *Page) Commands() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for _, b := range p.Blocks {
			if !b.Shell {
				continue
			}
			for at, line := range p.Lines(b) {
				if !yield(at, line) {
					return
				}
			}
		}
	}
}

// Prose returns the lines outside of code blocks with their offsets, without line endings.
func (p *Page) Prose() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for at := p.from; at < len(p.text); {
			line, length := cutLine(p.text[at:])
			if !inside(p.code, at+skipSpace(line, 0)) && !yield(at, line) {
				return
			}
			at += length
		}
	}
}

// InCode reports whether a byte of the text is in a code block (including fences), in a code span (including
// backticks), or in an HTML block of script, style, pre, or textarea.
func (p *Page) InCode(offset int) bool {
	return inside(p.code, offset) || inside(p.inline, offset)
}

// inside reports whether one of the sorted extents contains an offset.
func inside(sorted []extent, offset int) bool {
	i := sort.Search(len(sorted), func(i int) bool { return sorted[i].end > offset })
	return i < len(sorted) && sorted[i].start <= offset
}
