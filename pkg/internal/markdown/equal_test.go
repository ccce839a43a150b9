package markdown

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Differences between goldmark and CommonMark, which this package follows: an odd number of backslashes at the end of a
// line, except one, and any odd number before two spaces there, make the start of the next line escaped; and any
// character can replace the bracket in ![^footnote].
var (
	oddBackslashes = regexp.MustCompile(`(?m)(?:^|[^\\\n])\\(?:(?:\\\\)+\n|(?:\\\\)*  \r?\n)`)
	oddFootnote    = regexp.MustCompile(`(?s)![^\[]\^`)
)

// compare returns the difference between this package's result for a page and goldmark's, or "". It reports whether
// they can be compared.
func compare(source []byte) (difference string, ok bool) {
	r := new(Reader)
	p := r.Read(source, 0)
	if r.deviations != 0 || oddBackslashes.Match(source) || len(r.notes) > 0 && oddFootnote.Match(source) {
		return "", false
	}
	o := ask(source)
	for i := range p.Links {
		p.Links[i].TextStart, p.Links[i].TextEnd = 0, 0
		if i < len(o.links) && oddTarget.Match(source[p.Links[i].Offset:]) && o.links[i].Target == "" {
			p.Links[i].Target = ""
		}
	}
	if !slices.Equal(p.Links, o.links) {
		return fmt.Sprintf("links\n%+v, not\n%+v", p.Links, o.links), true
	}
	if !slices.Equal(p.Spans, o.spans) {
		return fmt.Sprintf("spans\n%+v, not\n%+v", p.Spans, o.spans), true
	}
	if !slices.Equal(p.Comments, o.comments) {
		return fmt.Sprintf("comments\n%+v, not\n%+v", p.Comments, o.comments), true
	}
	if d := compareBlocks(p, o); d != "" {
		return d, true
	}
	return compareAnchors(p, o), true
}

func compareBlocks(p *Page, o *oracle) string {
	var blocks []oracleBlock
	for i, b := range p.Blocks {
		c := oracleBlock{language: b.Language, fenced: b.Fenced}
		for _, line := range p.Lines(b) {
			c.lines = append(c.lines, strings.TrimSpace(string(line)))
		}
		if i < len(o.blocks) {
			c.at = o.blocks[i].at
		}
		blocks = append(blocks, c)
	}
	if got, want := fmt.Sprintf("%#v", blocks), fmt.Sprintf("%#v", o.blocks); got != want {
		return fmt.Sprintf("blocks\n%s, not\n%s", got, want)
	}
	// Goldmark counts the columns of a tab before the fence as bytes.
	if (p.Open < 0) != (o.open < 0) || p.Open >= 0 && !bytes.Equal(lineAt(p.text, p.Open), lineAt(p.text, o.open)) {
		return fmt.Sprintf("open %d, not %d", p.Open, o.open)
	}
	return ""
}

// lineAt returns the line that an offset is in.
func lineAt(text []byte, offset int) []byte {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	line, _ := cutLine(text[start:])
	return line
}

func compareAnchors(p *Page, o *oracle) string {
	p.HasAnchor("x")
	got := map[string]bool{}
	for _, name := range p.names {
		got[reverse(name)] = true
	}
	if g, w := fmt.Sprint(got), fmt.Sprint(o.anchors); g != w {
		return fmt.Sprintf("anchors\n%s, not\n%s", g, w)
	}
	for a := range o.anchors {
		for _, fragment := range []string{a, a + "-1", a[len(a)/2:], "no" + a} {
			if p.HasAnchor(fragment) != o.hasAnchor(fragment) {
				return fmt.Sprintf("anchor %q: %t", fragment, p.HasAnchor(fragment))
			}
		}
	}
	return ""
}
