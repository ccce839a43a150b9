package site

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"golang.org/x/net/html"
)

// hostile lists texts that try to inject markup into a page.
var hostile = map[string]string{
	"script":           "<script>alert(1)</script>\n\nbefore <script src=//evil.example/x.js></script> after",
	"handlers":         "<img src=x onerror=alert(1)> <a href=x onclick=alert(1)>x</a>\n\n<div onmouseover=alert(1)>\n",
	"javascript links": "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](java&#10;script:alert(1)) [d](&#106;avascript:alert(1)) <javascript:alert(1)>",
	"data and others":  "[a](data:text/html,<script>alert(1)</script>) [b](vbscript:x) [c](file:///etc/passwd) [d](//evil.example) ![e](data:image/svg+xml,x) [f](blob:x)",
	"svg":              "<svg onload=alert(1)><use href='#x'/></svg>\n\n<math><mtext></mtext></math>",
	"style":            "<style>body{display:none}</style>\n\n<p style='position:fixed'>x</p> <link rel=stylesheet href=//evil.example>",
	"frames":           "<iframe src=//evil.example></iframe><object data=x></object><embed src=x><base href=//evil.example><meta http-equiv=refresh content=0>",
	"forms":            "<form action=//evil.example><input name=q><button formaction=javascript:alert(1)>x</button></form>",
	"images":           "![x](https://evil.example/pixel.png \"title\") ![y][ref]\n\n[ref]: https://evil.example/2.png",
	"attributes":       "[x](https://ok.example/\"onmouseover=alert(1)\") [y](https://ok.example 'a\" onclick=\"alert(1)')\n\n# x\" onclick=\"alert(1) {#id onclick=x}",
	"credentials":      "[x](https://user:password@ok.example/)",
	"code":             "```\"><script>alert(1)</script>\nx\n```\n\n`<script>`",
	"fences":           "``` \"><b>\nx\n```\n\n~~~x\"onclick=y\nz\n~~~\n\n```a<b\n```",
	"tables":           "| <b> | a |\n|-|:-:|\n| </td><script> | `|` |\n\na b\n- -\n\n|a|b|\n|- -|\n",
	"lists":            "1000000000. x\n999999999) x\n- [ ] <b>\n- [x]\n  > 1. <i>\n",
	"fragments":        "[a](#\"onclick=x) [b](#%22%3e%3cscript%3e) [c](#%zz) [d](#a b) [e](<#<b>>)",
	"definitions":      "[a]\n\n[a]: javascript:alert(1) \"<b>\"\n\n![a] [b]\n\n[b]: <https://ok.example/<b>> '\"'",
	"relative":         "[x](../../index.html) [y](/admin) [z](references/a.md) [w](?q=1)",
	"comment":          "<!-- --><script>alert(1)</script> -->\n\n<![CDATA[<script>alert(1)</script>]]>\n\n<?php x ?>",
	"broken html":      "<a href=\"https://x.example\n\n<<script>script>alert(1)</</script>script>",
	"template":         "{{.Title}} {{template \"x\"}} ${alert(1)}",
	"clobbering":       "# q\n\n# location\n\n# main\n\n<a name=q id=results></a>",
	"control":          "a\x00b\x1b[31m\u202ec\ufeff \xff\xfe",
}

// allowed lists the elements that prose may have, and their attributes.
var allowed = map[string]string{
	"p": "", "br": "", "hr": "", "em": "", "strong": "", "del": "", "code": "class", "pre": "", "blockquote": "", "ul": "", "ol": "start", "li": "",
	"h4": "id", "h5": "id", "h6": "id", "table": "", "thead": "", "tbody": "", "tr": "", "th": "align", "td": "align", "span": "class title", "a": "href rel",
}

// checkProse parses rendered Markdown like a browser, and requires that it has only allowed elements, and that all of
// them are closed, so that it cannot affect the page around it.
func checkProse(t testing.TB, rendered string) {
	t.Helper()
	var open []string
	for tokens := html.NewTokenizer(strings.NewReader(rendered)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("%q stay open in %q", open, rendered)
			}
			return
		case html.CommentToken, html.DoctypeToken, html.SelfClosingTagToken:
			t.Errorf("%s is in %q", tokens.Raw(), rendered)
		case html.StartTagToken:
			tag := tokens.Token()
			if checkTag(t, tag, rendered); tag.Data != "br" && tag.Data != "hr" {
				open = append(open, tag.Data)
			}
		case html.EndTagToken:
			tag := tokens.Token()
			if len(tag.Attr) > 0 || len(open) == 0 || open[len(open)-1] != tag.Data {
				t.Fatalf("%v ends %q in %q", tag, open, rendered)
			}
			open = open[:len(open)-1]
		}
	}
}

func checkTag(t testing.TB, tag html.Token, rendered string) {
	t.Helper()
	attributes, ok := allowed[tag.Data]
	if !ok {
		t.Errorf("<%s> is in %q", tag.Data, rendered)
	}
	for _, a := range tag.Attr {
		switch {
		case !strings.Contains(" "+attributes+" ", " "+a.Key+" "):
			t.Errorf("<%s %s> is in %q", tag.Data, a.Key, rendered)
		case a.Key == "id" && !strings.HasPrefix(a.Val, "skill-x-"):
			t.Errorf("an id is %q", a.Val)
		case a.Key == "href" && !strings.HasPrefix(a.Val, "#skill-x-") && !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://"):
			t.Errorf("a link leads to %q", a.Val)
		case a.Key == "href" && hasUser(a.Val):
			t.Errorf("a link has credentials: %q", a.Val)
		case a.Key == "class" && tag.Data == "span" && a.Val != "box" && a.Val != "file" && a.Val != "image",
			a.Key == "class" && tag.Data == "code" && !strings.HasPrefix(a.Val, "language-"),
			a.Key == "align" && a.Val != "left" && a.Val != "center" && a.Val != "right",
			a.Key == "rel" && a.Val != "nofollow noopener noreferrer",
			a.Key == "start" && strings.Trim(a.Val, "0123456789") != "":
			t.Errorf("<%s> has %s=%q", tag.Data, a.Key, a.Val)
		}
	}
	if tag.Data == "a" && len(tag.Attr) > 0 && !strings.HasPrefix(tag.Attr[len(tag.Attr)-1].Val+tag.Attr[0].Val, "#") {
		joined := fmt.Sprint(tag.Attr)
		if !strings.Contains(joined, "nofollow noopener noreferrer") {
			t.Errorf("a link without rel: %v", tag)
		}
	}
}

func hasUser(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.User != nil
}

func TestHostileMarkdown(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			rendered, _ := prose([]byte(text), 3, "skill-x-")
			checkProse(t, rendered)
		})
	}
}

// TestSlowMarkdown renders texts for which parsers need quadratic time or memory.
func TestSlowMarkdown(t *testing.T) {
	var nested strings.Builder
	for i := range 600 {
		nested.WriteString(strings.Repeat(" ", 2*i) + "- a\n")
	}
	for name, text := range map[string]string{
		"lists in lists": strings.Repeat("- ", 10_000) + "a", "indented lists": nested.String(), "quotes": strings.Repeat(">", 100_000),
		"brackets": strings.Repeat("[", 200_000), "most brackets": strings.Repeat("[", maxDelimiters), "stars": strings.Repeat("*a ", 50_000),
		"most stars": strings.Repeat("*a **b ", maxDelimiters/3), "ticks": strings.Repeat("`a``", maxDelimiters/3), "less": strings.Repeat("<a ", maxDelimiters),
		"images": strings.Repeat("![", maxDelimiters), "links": strings.Repeat("[a](", maxDelimiters), "tildes": strings.Repeat("~~a ~", maxDelimiters/3),
		"a wide table": "|" + strings.Repeat("a|", 5000) + "\n|" + strings.Repeat("-|", 5000) + "\n" + strings.Repeat("|a\n", 20_000),
		"definitions":  strings.Repeat("[a]: b\n", maxDelimiters), "headings": strings.Repeat("# a\n", 60_000), "entities": strings.Repeat("&amp;", 50_000),
		"parentheses": "[a](" + strings.Repeat("(", 200_000), "html": strings.Repeat("<div>\n", maxDelimiters), "huge": strings.Repeat("word ", 4<<20),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			rendered, cut := prose([]byte(text), 3, "skill-x-")
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if len(rendered) > 16*maxMarkdown {
				t.Errorf("%d bytes became %d", len(text), len(rendered))
			}
			if cut != (len(text) > maxMarkdown) {
				t.Errorf("cut is %v", cut)
			}
			checkProse(t, rendered)
		})
	}
}

func FuzzProse(f *testing.F) {
	for _, text := range hostile {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rendered, _ := prose(text, 3, "skill-x-")
		checkProse(t, rendered)
	})
}

func TestHeadings(t *testing.T) {
	got, _ := prose([]byte("## Two\n\n#### Four\n\n# One\n\n## Two\n\nSetext\n===\n"), 3, "x-")
	want := `<h4 id="x-two">Two</h4>
<h5 id="x-four">Four</h5>
<h4 id="x-one">One</h4>
<h5 id="x-two-1">Two</h5>
<h4 id="x-setext">Setext</h4>
`
	if got != want {
		t.Errorf("got %s", got)
	}
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"a  \nb\\\nc *d* __e__ ~~f~~ `<g>`": "<p>a<br>\nb<br>\nc <em>d</em> <strong>e</strong> <del>f</del> <code>&lt;g&gt;</code></p>\n",
		"| a | b | c |\n|:-|:-:|-:|\n| 1 | 2 |\n": `<table>
<thead>
<tr>
<th align="left">a</th>
<th align="center">b</th>
<th align="right">c</th>
</tr>
</thead>
<tbody>
<tr>
<td align="left">1</td>
<td align="center">2</td>
<td align="right"></td>
</tr>
</tbody>
</table>
`,
		"- [x] done\n- [ ] open\n":              "<ul>\n<li><span class=\"box\">☑</span> done</li>\n<li><span class=\"box\">☐</span> open</li>\n</ul>\n",
		"3. a\n\n   b\n4. c\n":                  "<ol start=\"3\">\n<li>\n<p>a</p>\n<p>b</p>\n</li>\n<li>\n<p>c</p>\n</li>\n</ol>\n",
		"```go x\na\n\n```\n\n    b\n":          "<pre><code class=\"language-go\">a\n\n</code></pre>\n<pre><code>b\n</code></pre>\n",
		"> a\n\n---\n":                          "<blockquote>\n<p>a</p>\n</blockquote>\n<hr>\n",
		"![a *b*](c.png)":                       "<p><span class=\"image\">image: a <em>b</em></span></p>\n",
		"[a](b.md) <https://x.example/?a&b>":    "<p><span class=\"file\" title=\"b.md\">a</span> <a rel=\"nofollow noopener noreferrer\" href=\"https://x.example/?a&amp;b\">https://x.example/?a&amp;b</a></p>\n",
		"[a](#über-uns) **b [c*d](#e)":          "<p><a href=\"#x-%C3%BCber-uns\">a</a> **b <a href=\"#x-e\">c*d</a></p>\n",
		"# Über `uns`! [&amp; co](#x)\n\n# *\n": "<h4 id=\"x-über-uns--co\">Über <code>uns</code>! <a href=\"#x-x\">&amp; co</a></h4>\n<h4 id=\"x-section\">*</h4>\n",
		"a <b>c</b> &lt;d&gt; &copy;":           "<p>a c &lt;d&gt; ©</p>\n",
		"\\<script> a\r\nb\rc":                  "<p>&lt;script&gt; a\nb\nc</p>\n",
	} {
		if got, _ := prose([]byte(text), 3, "x-"); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{oneLine(" a\n\tb\u202e\x1b[0m\xff "), "a b[0m\uFFFD"},
		{short("some words that are long", 14), "some words…"},
		{short("some words", 10), "some words"},
		{size(1), "1 byte"},
		{size(999), "999 bytes"},
		{size(1500), "1.5 kB"},
		{size(2_345_678), "2.3 MB"},
		{textx.Thousands(1_234_567), "1,234,567"},
		{textx.Thousands(123), "123"},
		{fileName("k8s"), "k8s"},
		{fileName("con"), "_" + fileName("con")[1:]},
		{fileName("../x"), "_" + fileName("../x")[1:]},
		{outside("git+https://git.example/a/b.git"), "https://git.example/a/b.git"},
		{outside("https://user:pw@git.example/"), ""},
		{outside("javascript:alert(1)"), ""},
		{abbreviated("sha256:0123456789abcdef"), "0123456789ab"},
		{rootOf("packs/acme/x.html"), "../../"},
		{rootOf("index.html"), ""},
		{termKey("ab"), "ab"},
		{termKey("a"), "a"},
		{termKey("aé"), "a"},
		{termKey("日"), "u-65e5"},
		{numbered("index.html", 1), "index.html"},
		{numbered("index.html", 2), "all/2.html"},
		{numbered("tags/a.html", 2), "tags/a/2.html"},
		{basePath("https://x.example/a/b"), "/a/b/"},
		{basePath("https://x.example"), "/"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
