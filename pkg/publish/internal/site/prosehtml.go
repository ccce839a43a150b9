package site

import (
	"bytes"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"rsc.io/markdown"
)

// Limits of texts in attributes.
const (
	maxID       = 200
	maxLanguage = 40
	maxTitle    = 1000
)

// renderer writes a parsed Markdown document as HTML.
type renderer struct {
	bytes.Buffer
	prefix string // of ids
	base   int    // the level of the heading above
	open   []int  // the source levels of the headings above
	ids    map[string]int
}

func (r *renderer) blocks(list []markdown.Block) {
	for _, b := range list {
		r.block(b)
	}
}

func (r *renderer) block(b markdown.Block) {
	switch b := b.(type) {
	case *markdown.Paragraph:
		r.within("p", b.Text)
	case *markdown.Text: // a paragraph of a tight list
		r.inlines(b.Inline)
	case *markdown.Heading:
		r.heading(b)
	case *markdown.CodeBlock:
		r.code(b)
	case *markdown.ThematicBreak:
		r.WriteString("<hr>\n")
	case *markdown.Quote:
		r.WriteString("<blockquote>\n")
		r.blocks(b.Blocks)
		r.WriteString("</blockquote>\n")
	case *markdown.List:
		r.list(b)
	case *markdown.Item:
		r.item(b)
	case *markdown.Table:
		r.table(b)
	default: // HTML, and nodes without text
	}
}

// within writes text in an element.
func (r *renderer) within(tag string, text *markdown.Text) {
	r.WriteString("<" + tag + ">")
	r.inlines(text.Inline)
	r.WriteString("</" + tag + ">\n")
}

// heading computes the level of a heading from its depth in the text, below a heading of the page.
func (r *renderer) heading(h *markdown.Heading) {
	for len(r.open) > 0 && r.open[len(r.open)-1] >= h.Level {
		r.open = r.open[:len(r.open)-1]
	}
	r.open = append(r.open, h.Level)
	tag := "h" + strconv.Itoa(min(r.base+len(r.open), lowestLevel))
	r.WriteString("<" + tag)
	if id := r.id(h.Text.Inline); id != "" {
		r.WriteString(` id="` + html.EscapeString(r.prefix+id) + `"`)
	}
	r.WriteString(">")
	r.inlines(h.Text.Inline)
	r.WriteString("</" + tag + ">\n")
}

// id returns the link target of a heading in GitHub's format: letters, digits, _ and -, and a number if another heading
// has the same id.
func (r *renderer) id(title []markdown.Inline) string {
	var text strings.Builder
	titleText(title, &text)
	id := strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), unicode.Is(unicode.M, c), c == '_', c == '-':
			return unicode.ToLower(c)
		case unicode.IsSpace(c):
			return '-'
		}
		return -1
	}, strings.TrimSpace(text.String()))
	if id == "" || len(id) > maxID {
		id = "section"
	}
	for {
		n := r.ids[id]
		r.ids[id]++
		if n == 0 {
			return id
		}
		id += "-" + strconv.Itoa(n)
	}
}

// titleText writes the text of a title.
func titleText(list []markdown.Inline, out *strings.Builder) {
	for _, x := range list {
		switch x := x.(type) {
		case *markdown.Strong:
			titleText(x.Inner, out)
		case *markdown.Emph:
			titleText(x.Inner, out)
		case *markdown.Del:
			titleText(x.Inner, out)
		case *markdown.Link:
			titleText(x.Inner, out)
		case *markdown.Image, *markdown.HTMLTag:
		case *markdown.SoftBreak, *markdown.HardBreak:
			out.WriteByte(' ')
		default:
			out.WriteString(textOf(x))
		}
	}
}

// textOf returns the text of a node without children. The types of some are private to the parser.
func textOf(x markdown.Inline) string {
	switch x := x.(type) {
	case *markdown.Plain:
		return x.Text
	case *markdown.Escaped:
		return x.Text
	case *markdown.Code:
		return x.Text
	case *markdown.AutoLink:
		return x.Text
	}
	var b bytes.Buffer
	x.PrintText(&b)
	return html.UnescapeString(b.String())
}

func (r *renderer) text(s string) { r.WriteString(html.EscapeString(s)) }

// code writes a code block and its language, if that is a single word.
func (r *renderer) code(b *markdown.CodeBlock) {
	r.WriteString("<pre><code")
	if language, _, _ := strings.Cut(strings.TrimSpace(b.Info), " "); isLanguage(language) {
		r.WriteString(` class="language-` + html.EscapeString(language) + `"`)
	}
	r.WriteString(">")
	list := b.Text
	for b.Fence == "" && len(list) > 0 && strings.Trim(list[len(list)-1], " \t") == "" {
		list = list[:len(list)-1]
	}
	for _, line := range list {
		r.text(line)
		r.WriteByte('\n')
	}
	r.WriteString("</code></pre>\n")
}

func isLanguage(s string) bool {
	return s != "" && len(s) <= maxLanguage && strings.IndexFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("_+.#-", c)
	}) < 0
}

func (r *renderer) list(l *markdown.List) {
	tag, start := "ul", ""
	if l.Bullet == '.' || l.Bullet == ')' {
		tag = "ol"
		if l.Start != 1 {
			start = ` start="` + strconv.Itoa(l.Start) + `"`
		}
	}
	r.WriteString("<" + tag + start + ">\n")
	r.blocks(l.Items)
	r.WriteString("</" + tag + ">\n")
}

func (r *renderer) item(item *markdown.Item) {
	r.WriteString("<li>")
	for i, b := range item.Blocks {
		_, tight := b.(*markdown.Text)
		if i == 0 && !tight {
			r.WriteByte('\n')
		}
		if r.block(b); tight && i+1 < len(item.Blocks) {
			r.WriteByte('\n')
		}
	}
	r.WriteString("</li>\n")
}

func (r *renderer) table(t *markdown.Table) {
	r.WriteString("<table>\n<thead>\n")
	r.row("th", t.Header, t.Align)
	r.WriteString("</thead>\n")
	if len(t.Rows) > 0 {
		r.WriteString("<tbody>\n")
		for _, row := range t.Rows {
			r.row("td", row, t.Align)
		}
		r.WriteString("</tbody>\n")
	}
	r.WriteString("</table>\n")
}

func (r *renderer) row(tag string, cells []*markdown.Text, align []string) {
	r.WriteString("<tr>\n")
	for i, cell := range cells {
		r.WriteString("<" + tag)
		if i < len(align) {
			switch align[i] {
			case "left", "center", "right":
				r.WriteString(` align="` + align[i] + `"`)
			}
		}
		r.WriteString(">")
		r.inlines(cell.Inline)
		r.WriteString("</" + tag + ">\n")
	}
	r.WriteString("</tr>\n")
}

func (r *renderer) inlines(list []markdown.Inline) {
	for _, x := range list {
		r.inline(x)
	}
}

func (r *renderer) inline(x markdown.Inline) {
	switch x := x.(type) {
	case *markdown.Strong:
		r.around("strong", x.Inner)
	case *markdown.Emph:
		r.around("em", x.Inner)
	case *markdown.Del:
		r.around("del", x.Inner)
	case *markdown.Code:
		r.WriteString("<code>")
		r.text(x.Text)
		r.WriteString("</code>")
	case *markdown.Link:
		r.link(x)
	case *markdown.AutoLink:
		r.autoLink(x)
	case *markdown.Image: // the image's alternative text
		r.WriteString(`<span class="image">image: `)
		r.inlines(x.Inner)
		r.WriteString("</span>")
	case *markdown.Task: // a symbol, because checkboxes are read-only
		sign := "☐"
		if x.Checked {
			sign = "☑"
		}
		r.WriteString(`<span class="box">` + sign + "</span>")
	case *markdown.HTMLTag:
	case *markdown.HardBreak:
		r.WriteString("<br>\n")
	case *markdown.SoftBreak:
		r.WriteByte('\n')
	default:
		r.text(textOf(x))
	}
}

func (r *renderer) around(tag string, list []markdown.Inline) {
	r.WriteString("<" + tag + ">")
	r.inlines(list)
	r.WriteString("</" + tag + ">")
}

// link renders links to other sites and within the text. Other links would lead to files that the website does not
// have, so they become text with their target as the title.
func (r *renderer) link(l *markdown.Link) {
	href, outside := r.target(l.URL)
	switch {
	case href == "" && isTitle(l.URL):
		r.WriteString(`<span class="file" title="` + html.EscapeString(l.URL) + `">`)
	case href == "":
		r.WriteString(`<span class="file">`)
	case outside:
		r.WriteString(`<a rel="nofollow noopener noreferrer" href="` + html.EscapeString(href) + `">`)
	default:
		r.WriteString(`<a href="` + html.EscapeString(href) + `">`)
	}
	r.inlines(l.Inner)
	if href == "" {
		r.WriteString("</span>")
	} else {
		r.WriteString("</a>")
	}
}

// isTitle reports whether a target can be shown as it is.
func isTitle(s string) bool {
	return len(s) <= maxTitle && strings.IndexFunc(s, func(c rune) bool { return c < ' ' || c == '<' || c == '>' }) < 0
}

// target returns the address of a link, or "" if it is not allowed, and whether it leads to another site.
func (r *renderer) target(destination string) (href string, outside bool) {
	if id, ok := strings.CutPrefix(destination, "#"); ok {
		if raw, err := url.PathUnescape(id); err == nil {
			id = raw
		}
		return (&url.URL{Fragment: r.prefix + id}).String(), false
	}
	u, err := url.Parse(destination)
	if err != nil || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return "", false
	}
	return u.String(), true
}

func (r *renderer) autoLink(l *markdown.AutoLink) {
	href, outside := r.target(l.URL)
	if !outside {
		r.text(l.Text)
		return
	}
	r.WriteString(`<a rel="nofollow noopener noreferrer" href="` + html.EscapeString(href) + `">`)
	r.text(l.Text)
	r.WriteString("</a>")
}
