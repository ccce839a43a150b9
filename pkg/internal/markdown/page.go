package markdown

import (
	"bytes"
	"iter"
	"sort"
	"sync"
)

// Page is the result of reading a page of Markdown. It keeps the text that it was read from, which must not change. It
// is safe for concurrent use.
type Page struct {
	// Links are the links, the images, the reference definitions that are used (each once, where it is first used),
	// and the src and href attributes of HTML. They stand in the order of the page as it is shown: footnotes last, in
	// the order of their first use, and those that are not used left out.
	Links []Link
	// Spans are the code spans, in the same order.
	Spans []Span
	// Blocks are the code blocks, in the order of the text.
	Blocks []Block
	// Comments are the HTML comments outside code, in the order of the text. Text is what is between <!-- and -->,
	// Offset that of <!--, End that after -->. A comment that nothing ends goes to the end of its block.
	Comments []Span
	// Open is the offset of the opening fence of a code block that nothing closes, or -1.
	Open int

	text    []byte
	code    []extent // of the code blocks with their fences, and of script, style, pre and textarea
	inline  []extent // of the code spans with their backticks
	starts  []int    // where the lines of code blocks in containers start
	anchors []anchor
	parts   []extent // of the text of anchors
	once    sync.Once
	names   []string // the folded anchors backwards, sorted
}

// Link is one reference to somewhere.
type Link struct {
	Target string // with escapes and entities resolved, but not percent-encoding
	Offset int    // of the target; of the link if the target is empty
	Width  int    // of the target in the file, in code points; 0 if it is empty
	// The offsets of the text between the brackets; both are 0 for HTML.
	TextStart, TextEnd int
	Image              bool // an image of Markdown, not of HTML
}

// Span is a piece of the page.
type Span struct {
	Text   string
	Offset int // of the first byte
	End    int // after the last byte
}

// Block is a code block.
type Block struct {
	Language string // the first word of the info string
	Shell    bool   // it is fenced, and of a shell or of no language
	Fenced   bool   // it is fenced, and not indented
	Offset   int    // of the first line of the content
	End      int    // after the last line of the content

	first, lines int // of Page.starts; no lines if every line starts where it does in the file
}

// extent is a piece of the text.
type extent struct{ start, end int }

// Lines returns the lines of a code block with their offsets, without the markers of the containers around the block,
// the indentation that makes a code block, and the line endings.
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

// cutLine returns the first line of a text without its ending, and its length with it.
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

// InCode reports whether a byte of the text is in a code block (its fences included), in a code span (its backticks
// included), or in an HTML block of script, style, pre or textarea.
func (p *Page) InCode(offset int) bool {
	return inside(p.code, offset) || inside(p.inline, offset)
}

// inside reports whether one of the sorted extents contains an offset.
func inside(sorted []extent, offset int) bool {
	i := sort.Search(len(sorted), func(i int) bool { return sorted[i].end > offset })
	return i < len(sorted) && sorted[i].start <= offset
}
