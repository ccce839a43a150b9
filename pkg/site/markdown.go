package site

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	maxMarkdown   = 256 << 10 // bytes that are rendered; what is longer is cut
	maxLead       = 160       // bytes of indentation and of markers of lists and quotes that a line may begin with
	maxDelimiters = 10_000    // of one kind
	maxCells      = 200_000   // of tables
	maxLinkWork   = 100 << 20 // bytes that are looked at where no link of a paragraph is closed
	lowestLevel   = 6         // of headings
)

// prose renders the body of a SKILL.md as HTML that is safe to put into a page: no raw HTML, no images, no link but to
// other sites and to its own headings. Its headings begin one level below the given one and skip none; ids begin with the
// prefix. Text that is made to be slow or deep is shown as it is. The bool says whether it was cut.
func prose(body []byte, level int, prefix string) (markup, bool) {
	cut := len(body) > maxMarkdown
	if cut {
		body = body[:bytes.LastIndexByte(body[:maxMarkdown], '\n')+1]
	}
	if body = lines(body); tangled(body) {
		return plainText(body), cut
	}
	md := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&reader{prefix: prefix}, 1))),
	)
	doc := md.Parser().Parse(text.NewReader(body))
	relevel(doc, level)
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, body, doc); err != nil {
		return plainText(body), cut
	}
	return markup(sanitiser().SanitizeBytes(out.Bytes())), cut
}

func plainText(body []byte) markup {
	return markup("<pre>" + html.EscapeString(string(bytes.ToValidUTF8(body, []byte("\uFFFD")))) + "</pre>")
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
	columns, lines, like := 0, 0, shapes()
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, " \t\r\n")
		lines++
		lead := like.markers.Find(line)
		if rule := len(lead) == len(line) && len(bytes.Trim(line, "-* \t")) == 0; !rule && len(lead) > maxLead {
			return true
		}
		if like.delimiter.Match(line) {
			columns = max(columns, bytes.Count(line, []byte("|"))+1)
		}
	}
	for _, b := range []string{"[", "*", "_", "`", "<", "~"} {
		if bytes.Count(body, []byte(b)) > maxDelimiters {
			return true
		}
	}
	return columns*lines > maxCells || linkWork(body) > maxLinkWork // a short row of a wide table is filled up
}

// linkWork returns how many bytes a parser looks at where each address and each title of a link goes on to the end of its
// paragraph.
func linkWork(body []byte) (work int) {
	links, size, like := 0, 0, shapes()
	for line := range bytes.Lines(body) {
		if len(bytes.TrimSpace(line)) == 0 || like.bullet.Match(line) {
			work += links * size
			links, size = 0, 0
		}
		links += bytes.Count(line, []byte("](")) + bytes.Count(line, []byte("]:"))
		size += len(line)
	}
	return work + links*size
}

// relevel gives headings the level that their depth in the text asks for, below a heading of the page.
func relevel(doc ast.Node, base int) {
	var open []int
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		for len(open) > 0 && open[len(open)-1] >= h.Level {
			open = open[:len(open)-1]
		}
		open = append(open, h.Level)
		h.Level = min(base+len(open), lowestLevel)
		return ast.WalkSkipChildren, nil
	})
}

// reader renders the nodes in which a catalogue differs from a page of one's own.
type reader struct{ prefix string }

// RegisterFuncs tells goldmark which nodes the reader renders.
func (r *reader) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindLink, r.link)
	reg.Register(ast.KindAutoLink, r.autoLink)
	reg.Register(ast.KindImage, r.image)
	reg.Register(ast.KindHeading, r.heading)
	reg.Register(east.KindTaskCheckBox, r.task)
	reg.Register(ast.KindRawHTML, nothing)
	reg.Register(ast.KindHTMLBlock, nothing)
}

func nothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

func (r *reader) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level := byte('0' + n.(*ast.Heading).Level)
	if !entering {
		_, _ = w.Write([]byte{'<', '/', 'h', level, '>', '\n'})
		return ast.WalkContinue, nil
	}
	_, _ = w.Write([]byte{'<', 'h', level})
	if id, ok := n.AttributeString("id"); ok {
		if text, ok := id.([]byte); ok {
			_, _ = w.WriteString(` id="` + r.prefix + html.EscapeString(string(text)) + `"`)
		}
	}
	_ = w.WriteByte('>')
	return ast.WalkContinue, nil
}

// link renders links to other sites and into the text. Others would lead to files that the catalogue does not have: they
// are text that says in a title where they lead.
func (r *reader) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	to := string(n.(*ast.Link).Destination)
	href, outside := r.target(to)
	switch {
	case href == "" && entering:
		_, _ = w.WriteString(`<span class="file" title="` + html.EscapeString(to) + `">`)
	case href == "":
		_, _ = w.WriteString("</span>")
	case entering && outside:
		_, _ = w.WriteString(`<a rel="nofollow noopener noreferrer" href="` + html.EscapeString(href) + `">`)
	case entering:
		_, _ = w.WriteString(`<a href="` + html.EscapeString(href) + `">`)
	default:
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

// target returns where a link may lead, "" for nowhere, and whether that is outside of the catalogue.
func (r *reader) target(to string) (href string, outside bool) {
	if id, ok := strings.CutPrefix(to, "#"); ok {
		return "#" + r.prefix + id, false
	}
	u, err := url.Parse(to)
	if err != nil || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return "", false
	}
	return u.String(), true
}

func (r *reader) autoLink(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := n.(*ast.AutoLink)
	label := html.EscapeString(string(link.Label(src)))
	if href, outside := r.target(string(link.URL(src))); outside {
		label = `<a rel="nofollow noopener noreferrer" href="` + html.EscapeString(href) + `">` + label + "</a>"
	}
	_, _ = w.WriteString(label)
	return ast.WalkContinue, nil
}

// image renders what the picture would say. Its children are the alternative text.
func (r *reader) image(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<span class="image">image: `)
	} else {
		_, _ = w.WriteString("</span>")
	}
	return ast.WalkContinue, nil
}

// task renders what is to be done or done as a sign, since there is nothing to fill in.
func (r *reader) task(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	sign := `<span class="box">☐</span>`
	if n.(*east.TaskCheckBox).IsChecked {
		sign = `<span class="box">☑</span>`
	}
	if entering {
		_, _ = w.WriteString(sign)
	}
	return ast.WalkContinue, nil
}

// sanitiser returns the list of what may be in rendered Markdown. It is the second lock on a door that the renderer keeps
// closed. It is made when it is first needed: most processes never show a page.
var sanitiser = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li",
		"h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "span", "a")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^[\p{L}\p{N}_.:-]{1,200}$`)).OnElements("h2", "h3", "h4", "h5", "h6")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^(box|file|image)$`)).OnElements("span")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9_+.#-]{1,40}$`)).OnElements("code")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("title").Matching(regexp.MustCompile(`^[^<>\x00-\x1f]{0,1000}$`)).OnElements("span")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("rel").Matching(regexp.MustCompile(`^nofollow noopener noreferrer$`)).OnElements("a")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(true) // "#heading", which is all that the renderer writes
	p.AllowURLSchemes("https", "http")
	return p
})
