package markdown

import (
	"bytes"
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// oracle is goldmark's result for a page.
type oracle struct {
	text     []byte
	links    []Link
	spans    []Span
	anchors  map[string]bool
	blocks   []oracleBlock
	comments []Span
	open     int
	seen     map[int]bool // definitions that were read, by offset
}

// oracleBlock is a code block.
type oracleBlock struct {
	at       int
	language string
	fenced   bool
	lines    []string // without spaces around them
}

// ask makes goldmark read a page.
func ask(source []byte) *oracle {
	o := &oracle{text: source, anchors: map[string]bool{}, open: -1, seen: map[int]bool{}}
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Footnote),
		// This transformer runs before that of the footnotes, which removes unused ones.
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(o, 500))))
	root := md.Parser().Parse(text.NewReader(source))
	_ = ast.Walk(root, o.visit) // visit returns no error
	return o
}

// Transform collects the constructs in text order, including all footnotes.
func (o *oracle) Transform(root *ast.Document, _ text.Reader, _ parser.Context) {
	var last *ast.FencedCodeBlock
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			o.block(n, string(n.Language(o.text)), true)
			if last == nil || n.Pos() > last.Pos() {
				last = n
			}
		case *ast.CodeBlock:
			o.block(n, "", false)
		case *ast.RawHTML, *ast.HTMLBlock:
			b, at := o.html(n)
			_, found := htmlAttributes(b)
			for _, c := range found {
				o.comments = append(o.comments, Span{Text: c.Text, Offset: at + c.Offset, End: at + c.End})
			}
		}
		return ast.WalkContinue, nil
	})
	slices.SortFunc(o.comments, func(a, b Span) int { return cmp.Compare(a.Offset, b.Offset) })
	slices.SortFunc(o.blocks, func(a, b oracleBlock) int { return cmp.Compare(a.at, b.at) })
	if last != nil {
		o.fence(last)
	}
}

func (o *oracle) block(n ast.Node, language string, fenced bool) {
	b := oracleBlock{at: n.Pos(), language: language, fenced: fenced}
	if !fenced { // a tab before it makes the position count too much
		b.at = n.Lines().At(0).Start
	}
	for _, s := range n.Lines().Sliced(0, n.Lines().Len()) {
		b.lines = append(b.lines, strings.TrimSpace(string(s.Value(o.text))))
	}
	o.blocks = append(o.blocks, b)
}

// fence reports whether the last fenced block is closed.
func (o *oracle) fence(n *ast.FencedCodeBlock) {
	end := n.Pos()
	if lines := n.Lines(); lines.Len() > 0 {
		end = lines.At(lines.Len() - 1).Stop
	} else if i := bytes.IndexByte(o.text[end:], '\n'); i >= 0 {
		end += i + 1
	} else {
		end = len(o.text)
	}
	if len(bytes.TrimSpace(o.text[end:])) == 0 {
		o.open = n.Pos()
	}
}

func (o *oracle) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Link:
		o.link(n.Destination, n.Pos(), n.Reference != nil, false)
	case *ast.Image:
		o.link(n.Destination, n.Pos(), n.Reference != nil, true)
	case *ast.Heading:
		o.anchors[foldAnchor(plainText(n, o.text))] = true
	case *ast.CodeSpan:
		o.span(n)
		return ast.WalkSkipChildren, nil
	case *ast.RawHTML, *ast.HTMLBlock:
		o.attributes(n)
	}
	return ast.WalkContinue, nil
}

// link records a target. A definition that several links use is one link.
func (o *oracle) link(destination []byte, at int, shared, image bool) {
	offset, width := within(o.text, destination), utf8.RuneCount(destination)
	if offset < 0 {
		offset, width = max(0, at), 0
	} else if shared {
		if o.seen[offset] {
			return
		}
		o.seen[offset] = true
	}
	plain := util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(destination)))
	if oddTarget.Match(destination) {
		plain = nil
	}
	o.links = append(o.links, Link{Target: string(plain), Offset: offset, Width: width, Image: image})
}

// oddTarget matches link destinations that goldmark reads differently than CommonMark: it resolves escapes and entities
// one after the other, reads numbers with a leading 0 as octal, and does not limit hexadecimal digits.
var oddTarget = regexp.MustCompile(`\\&|&[#0-9A-Za-z]*(?:\\|&#)|&#0|&#[xX][0-9a-fA-F]{7}|&#[xX]0*26;|&#38;`)

// within returns the offset of part in whole, from which the parser sliced it, or -1.
func within(whole, part []byte) int {
	offset := cap(whole) - cap(part)
	if len(part) == 0 || offset < 0 || offset+len(part) > len(whole) || &whole[offset] != &part[0] {
		return -1
	}
	return offset
}

func (o *oracle) span(n *ast.CodeSpan) {
	var b strings.Builder
	s := Span{Offset: -1}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		segment := c.(*ast.Text).Segment
		b.Write(segment.Value(o.text))
		if s.Offset < 0 {
			s.Offset = segment.Start
		}
		s.End = segment.Stop
	}
	s.Text = b.String()
	if strings.HasSuffix(s.Text, "\r") && s.End < len(o.text) && o.text[s.End] == '\n' { // half of a line's end
		s.Text = s.Text[:len(s.Text)-1]
		s.End--
	}
	s.Text = strings.NewReplacer("\r\n", " ", "\n", " ").Replace(s.Text)
	o.spans = append(o.spans, s)
}

// html returns the text of HTML, with spaces for the parts that belong to containers, and its position.
func (o *oracle) html(n ast.Node) (b []byte, at int) {
	var segments []text.Segment
	switch n := n.(type) {
	case *ast.RawHTML:
		segments = n.Segments.Sliced(0, n.Segments.Len())
	case *ast.HTMLBlock:
		if n.HTMLBlockType == ast.HTMLBlockType1 { // pre, script, style, textarea
			return nil, 0
		}
		segments = n.Lines().Sliced(0, n.Lines().Len())
		if n.HasClosure() {
			segments = append(slices.Clone(segments), n.ClosureLine)
		}
	}
	at = segments[0].Start
	for i, s := range segments {
		if i > 0 {
			gap := slices.Clone(o.text[segments[i-1].Stop:s.Start])
			for j := range gap {
				if !isSpace(gap[j]) {
					gap[j] = ' '
				}
			}
			b = append(b, gap...)
		}
		b = append(b, o.text[s.Start:s.Stop]...)
	}
	return b, at
}

func (o *oracle) attributes(n ast.Node) {
	b, at := o.html(n)
	found, _ := htmlAttributes(b)
	for _, a := range found {
		raw := o.text[at+a.offset : at+a.offset+a.length]
		value := html.UnescapeString(string(raw))
		switch a.name {
		case "src", "href":
			o.links = append(o.links, Link{Target: value, Offset: at + a.offset, Width: utf8.RuneCount(raw)})
		case "id", "name":
			o.anchors[foldAnchor(value)] = true
		}
	}
}

// plainText returns the text of a node and its descendants. A left-out part must not join two halves of a character.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	end := 0
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			if t.Segment.Start != end {
				b.WriteByte(' ')
			}
			end = t.Segment.Stop
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// hasAnchor reports whether the page has an anchor.
func (o *oracle) hasAnchor(anchor string) bool {
	folded := foldAnchor(anchor)
	if folded == "" || folded == "top" || o.anchors[strings.TrimRight(folded, "0123456789")] {
		return true
	}
	for a := range o.anchors {
		if strings.HasSuffix(a, folded) {
			return true
		}
	}
	return false
}

// htmlAttribute is one attribute of an HTML element.
type htmlAttribute struct {
	name           string // in lower case
	offset, length int    // of the value
}

// htmlAttributes returns the attributes of all elements in a piece of HTML, and its comments.
func htmlAttributes(b []byte) (out []htmlAttribute, comments []Span) {
	for i := 0; i < len(b); {
		if b[i] != '<' {
			i++
			continue
		}
		if m := commentAt.FindSubmatch(b[i:]); m != nil {
			comments = append(comments, Span{Text: string(m[1]), Offset: i, End: i + len(m[0])})
			i += len(m[0])
			continue
		}
		if i+1 >= len(b) || !isLetter(b[i+1]) {
			i++
			continue
		}
		i++
		for i < len(b) && !isSpace(b[i]) && b[i] != '>' && b[i] != '/' {
			i++
		}
		out, i = tagAttributes(b, i, out)
	}
	return out, comments
}

var commentAt = regexp.MustCompile(`(?s)^<!--(?:>|->|(.*?)(?:-->|$))`)

// tagAttributes reads the attributes of the tag whose name ends at i, up to its end.
func tagAttributes(b []byte, i int, out []htmlAttribute) ([]htmlAttribute, int) {
	for i < len(b) && b[i] != '>' {
		if isSpace(b[i]) || b[i] == '/' || b[i] == '=' {
			i++
			continue
		}
		start := i
		for i < len(b) && !isSpace(b[i]) && b[i] != '=' && b[i] != '>' && b[i] != '/' {
			i++
		}
		name := strings.ToLower(string(b[start:i]))
		next := skipSpace(b, i)
		if next >= len(b) || b[next] != '=' {
			continue
		}
		at := skipSpace(b, next+1)
		end := at
		if at < len(b) && (b[at] == '"' || b[at] == '\'') {
			at++
			end = len(b)
			if n := bytes.IndexByte(b[at:], b[at-1]); n >= 0 {
				end = at + n
			}
			i = min(end+1, len(b))
		} else {
			for end < len(b) && !isSpace(b[end]) && b[end] != '>' {
				end++
			}
			i = end
		}
		out = append(out, htmlAttribute{name, at, end - at})
	}
	return out, i
}
