package lint

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown reads Markdown; it may be used by several goroutines.
type markdown struct{ parser parser.Parser }

func newMarkdown() markdown {
	return markdown{goldmark.New(goldmark.WithExtensions(extension.Table, extension.Footnote)).Parser()}
}

// page is what a Markdown file says that rules are interested in.
type page struct {
	src      *source
	links    []link
	anchors  map[string]bool // of headings and HTML elements, folded by foldAnchor
	commands []string        // the lines of shell blocks
	spans    []span          // code spans
	comments []span          // HTML comments
	code     []span          // where code is, in order
	complex  bool            // it is too complex to read, so that the rest is empty
	open     int             // the offset of a code block's opening fence that nothing closes, or -1
}

// link is one reference to somewhere, with its target as it was meant: escapes and entities resolved, percent-encoding
// not.
type link struct {
	target string
	offset int // of the target in the file
	width  int // of the target there, in code points, 0 if that is not known
}

// span is a piece of a page.
type span struct {
	text        string
	offset, end int
}

// inFence reports whether a byte of the file is in a code block.
func (p *page) inFence(offset int) bool {
	for _, c := range p.code {
		if c.text == "" && c.offset <= offset && offset < c.end {
			return true
		}
	}
	return false
}

// inCode reports whether a byte of the file is code.
func (p *page) inCode(offset int) bool {
	for _, c := range p.code {
		if c.offset <= offset && offset < c.end {
			return true
		}
	}
	return false
}

// read parses the text of a file from an offset on.
func (m markdown) read(src *source, from int) *page {
	p := &page{src: src, anchors: map[string]bool{}, open: -1}
	if tooComplex(src.data[from:]) {
		p.complex = true
		return p
	}
	r := &pageReader{page: p, text: src.data[from:], from: from, seen: map[int]bool{}}
	root := m.parser.Parse(text.NewReader(r.text))
	_ = ast.Walk(root, r.visit) // visit returns no error
	return p
}

// pageReader walks the tree of a page.
type pageReader struct {
	*page
	text []byte
	from int
	seen map[int]bool // definitions that were read, by offset
}

func (r *pageReader) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Link:
		r.link(n.Destination, n.Pos(), n.Reference != nil)
	case *ast.Image:
		r.link(n.Destination, n.Pos(), n.Reference != nil)
	case *ast.Heading:
		r.anchors[foldAnchor(plainText(n, r.text))] = true
	case *ast.CodeSpan:
		r.codeSpan(n)
		return ast.WalkSkipChildren, nil
	case *ast.CodeBlock:
		r.lines(n.Lines())
	case *ast.FencedCodeBlock:
		r.fence(n)
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			r.markup(s.Start, s.Stop)
		}
	case *ast.HTMLBlock:
		r.htmlBlock(n)
	}
	return ast.WalkContinue, nil
}

// link records a target. A definition that several links use is one link.
func (r *pageReader) link(destination []byte, at int, shared bool) {
	offset, width := within(r.text, destination), utf8.RuneCount(destination)
	if offset < 0 {
		offset, width = max(0, at), 0
	} else if shared {
		if r.seen[offset] {
			return
		}
		r.seen[offset] = true
	}
	plain := util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(destination)))
	r.links = append(r.links, link{target: string(plain), offset: r.from + offset, width: width})
}

// within returns where part lies in whole, which the parser cut it from, or -1.
func within(whole, part []byte) int {
	offset := cap(whole) - cap(part)
	if len(part) == 0 || offset < 0 || offset+len(part) > len(whole) || &whole[offset] != &part[0] {
		return -1
	}
	return offset
}

func (r *pageReader) codeSpan(n *ast.CodeSpan) {
	s := span{text: plainText(n, r.text)}
	if first, ok := n.FirstChild().(*ast.Text); ok {
		s.offset = r.from + first.Segment.Start
	}
	if last, ok := n.LastChild().(*ast.Text); ok {
		s.end = r.from + last.Segment.Stop
	}
	r.spans, r.code = append(r.spans, s), append(r.code, s)
}

// lines notes lines of code.
func (r *pageReader) lines(lines *text.Segments) {
	if n := lines.Len(); n > 0 {
		r.code = append(r.code, span{offset: r.from + lines.At(0).Start, end: r.from + lines.At(n-1).Stop})
	}
}

// fence reads a fenced code block: the commands of a shell's, and whether it is closed.
func (r *pageReader) fence(n *ast.FencedCodeBlock) {
	end := n.Pos()
	if lines := n.Lines(); lines.Len() > 0 {
		r.lines(lines)
		end = lines.At(lines.Len() - 1).Stop
		if shellBlock(string(n.Language(r.text))) {
			for i := range lines.Len() {
				s := lines.At(i)
				r.commands = append(r.commands, string(s.Value(r.text)))
			}
		}
	} else if i := bytes.IndexByte(r.text[max(0, end):], '\n'); i >= 0 && end >= 0 {
		end += i + 1
	}
	if end < 0 || len(bytes.TrimSpace(r.text[min(end, len(r.text)):])) > 0 || n.Pos() < 0 {
		return
	}
	r.open = r.from + n.Pos()
}

func shellBlock(language string) bool {
	switch strings.ToLower(language) {
	case "", "sh", "bash", "zsh", "shell", "console", "terminal", "shell-session":
		return true
	}
	return false
}

func (r *pageReader) htmlBlock(n *ast.HTMLBlock) {
	lines := n.Lines()
	if n.HTMLBlockType == ast.HTMLBlockType1 || lines.Len() == 0 { // pre, script, style, textarea
		return
	}
	end := lines.At(lines.Len() - 1).Stop
	if n.HasClosure() {
		end = max(end, n.ClosureLine.Stop)
	}
	r.markup(lines.At(0).Start, end)
}

// markup reads the references and anchors of HTML.
func (r *pageReader) markup(start, stop int) {
	if piece := r.text[start:stop]; bytes.HasPrefix(bytes.TrimLeft(piece, " \t"), []byte("<!--")) {
		text, _, _ := bytes.Cut(piece[bytes.Index(piece, []byte("<!--"))+4:], []byte("-->"))
		r.comments = append(r.comments, span{string(text), r.from + start, r.from + stop})
	}
	for _, a := range htmlAttributes(r.text[start:stop]) {
		switch a.name {
		case "src", "href":
			r.links = append(r.links, link{target: a.value, offset: r.from + start + a.offset, width: a.width})
		case "id", "name":
			r.anchors[foldAnchor(a.value)] = true
		}
	}
}

// plainText returns the text of a node and all below it.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// foldAnchor reduces an anchor or a heading to its letters and digits, since hosts differ in what they make of the rest.
func foldAnchor(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// hasAnchor reports whether a page has an anchor. The number after a repeated heading's anchor does not count.
func (p *page) hasAnchor(anchor string) bool {
	folded := foldAnchor(anchor)
	return folded == "" || folded == "top" || p.anchors[folded] || p.anchors[strings.TrimRight(folded, "0123456789")] ||
		p.custom(folded)
}

// custom looks for an anchor at the end of a heading's text, as in "Title {#anchor}".
func (p *page) custom(folded string) bool {
	for a := range p.anchors {
		if strings.HasSuffix(a, folded) {
			return true
		}
	}
	return false
}
