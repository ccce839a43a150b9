package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// show returns the result as text: a link as target@offset, an image with ! before it, a code span in backticks, a code
// block as its lines, a comment in braces, and the position of an open fence.
func show(p *Page) string {
	var out []string
	for _, l := range p.Links {
		s := fmt.Sprintf("%s@%d", l.Target, l.Offset)
		if l.Image {
			s = "!" + s
		}
		out = append(out, s)
	}
	for _, s := range p.Spans {
		out = append(out, "`"+s.Text+"`")
	}
	for _, b := range p.Blocks {
		var lines []string
		for _, line := range p.Lines(b) {
			lines = append(lines, string(line))
		}
		out = append(out, b.Language+"<"+strings.Join(lines, "|")+">")
	}
	for _, c := range p.Comments {
		out = append(out, "{"+c.Text+"}")
	}
	if p.Open >= 0 {
		out = append(out, fmt.Sprintf("open@%d", p.Open))
	}
	return strings.Join(out, " ")
}

var pages = []struct{ name, text, want string }{
	{"nothing", "", ""},
	{"link", "see [the b](b.md) there", "b.md@12"},
	{"image", "![x](y.png)", "!y.png@5"},
	{"image in a link", "[![x](y.png)](z)", "z@14 !y.png@6"},
	{"link in an image", "![a [b](c) d](e)", "!e@14 c@8"},
	{"no link in a link", "[a [b](c) d](e)", "c@7"},
	{"no link in an image in a link", "[a ![b [c](d)](e) f](g)", "!e@15 d@11"},
	{"link in brackets", "[a [b](c)]", "c@7"},
	{"empty target", "[a]() [b](<>)", "@0 @6"},
	{"target in angles", "[a](<b c (d> \"t\")", "b c (d@5"},
	{"angles over lines", "[a](<b\nc>)", ""},
	{"parentheses", "[a](b(c(d))e) [f](g\\)h)", "b(c(d))e@4 g)h@18"},
	{"spaces in a target", "[a](b c)", ""},
	{"titles", "[a](b 'c') [d](e (f)) [g](h \"i\nj\")", "b@4 e@15 h@26"},
	{"two titles", "[a](b \"c\" \"d\")", ""},
	{"title over lines", "[a](b\n  \"c\")", "b@4"},
	{"escapes in a target", `[a](b\_c\d)`, "b_c\\d@4"},
	{"entities in a target", "[a](b&amp;c&#100;&#x65;&nosuch;&copy)", "b&cde&nosuch;&copy@4"},
	{"percent-encoding stays", "[a](b%20c)", "b%20c@4"},
	{"escaped brackets", `\[a](b) [c\](d) [e\]](f)`, "f@22"},
	{"escaped backslash", `\\[a](b)`, "b@6"},
	{"escaped bang", `\![a](b)`, "b@6"},
	{"code wins", "[a`](b)` c](d)", "d@12 `](b)`"},
	{"HTML wins", "[a <b c=\"](d)\">](e)", "e@17"},
	{"address wins", "[a <http://b](c)>](d)", "d@19"},
	{"addresses are no links", "<https://a.b> <c@d.e> https://f.g", ""},
	{"emphasis does not matter", "*[a](b*) **c** _[d](e)_", "b*@5 e@20"},

	{"reference", "[a][b] [b][] [b]\n\n[b]: c", "c@23"},
	{"reference, folded", "[A  \nẞ]\n\n[a SS]: c", "c@19"},
	{"reference, first wins", "[a]\n\n[a]: b\n[a]: c", "b@10"},
	{"reference in a heading's place", "[a]: b\n===\n[a]", "b@5"},
	{"unused definition", "[a]: b", ""},
	{"undefined", "[a][b] [c]", ""},
	{"no shortcut before an undefined label", "[a][b]\n\n[a]: c", ""},
	{"definition over lines", "[a]:\n  b\n  'c\n  d'\n\n[a]", "b@7"},
	{"definition with no title", "[a]: b\n'c\n\n[a]", "b@5"},
	{"no definition", "[a]: b c\n\n[a]", ""},
	{"no definition in a paragraph", "x\n[a]: b\n\n[a]", ""},
	{"definition in a quote", "[a]\n\n> [a]: b", "b@12"},
	{"empty definition", "[a] [a]\n\n[a]: <>", "@0 @4"},
	{"reference in an image", "![a]\n\n[a]: b", "!b@11"},
	{"label with brackets", "[a [b] c]\n\n[a [b] c]: d", ""},
	{"link then reference", "[a](b c)\n\n[a]: d", "d@15"},

	{"span", "`a` `` b`c `` ` d `", "`a` `b`c` `d`"},
	{"span of spaces", "`  ` ` a`", "`  ` ` a`"},
	{"span over lines", "`a\nb` `` \nc ``", "`a b` ` c`"},
	{"span in a quote", "> `a\n> b`", "`a b`"},
	{"no escapes in a span", "`a\\` b`", "`a\\`"},
	{"escaped backtick", "\\`a` b`", "` b`"},
	{"runs that do not fit", "``a` b", ""},
	{"no span over paragraphs", "`a\n\nb`", ""},
	{"span in a link", "[`a`](b)", "b@6 `a`"},
	{"span in a heading", "# `a`", "`a`"},

	{"fence", "```go\na\n\n\tb\n```\n", "go<a||\tb>"},
	{"fence of tildes", "~~~ c` d\n```\n~~~~", "c`<```>"},
	{"fence with a backtick", "``` a`b\nc", ""},
	{"indented fence", "  ```\n  a\n b\n    c\n  ```", "<a|b|  c>"},
	{"fence in a list", "- a\n  ```\n  b\n\n    c\n  ```\n", "<b||  c>"},
	{"fence in a quote", "> ```\n> a\nb", "<a>"},
	{"open fence", "a\n\n```\nb\n", "<b> open@3"},
	{"open fence in a list", "- ```\n  b\n\n", "<b|> open@2"},
	{"open fence at the end", "a\n```", "<> open@2"},
	{"closed with spaces", "```\na\n```  \n", "<a>"},
	{"too short to close", "````\n```\n", "<```> open@0"},
	{"indented", "a\n\n    b\n\n\n      c\n\nd", "<b|||  c>"},
	{"indented by a tab", "\ta\n \tb", "<a|b>"},
	{"not indented code", "a\n    b", ""},
	{"indented in a list", "-     a\n\n      b", "<a||b>"},
	{"no links in code", "    [a](b)\n\n```\n[c](d)\n```\n`[e](f)`", "`[e](f)` <[a](b)> <[c](d)>"},

	{"quote", "> [a](b\n> 'c')\n[d](e)", "b@6 e@19"},
	{"lazy line", "> - [a](\nb)", "b@9"},
	{"list", "1. [a](b)\n2) [c](d)\n- [e](f)\n\n  [g](h)", "b@7 d@17 f@26 h@36"},
	{"number that does not interrupt", "a\n2. ```\nb", ""},
	{"number that interrupts", "a\n1. ```\n   b", "<b> open@5"},
	{"empty item", "-\n  ```\n  a\n", "<a> open@4"},
	{"list in a list", "- - ```\n    a\n", "<a> open@4"},
	{"thematic break and list", "* * *\n* ```\n", "<> open@8"},

	{"HTML", "<a href=\"b\">x</a> <IMG SRC=c.png>", "b@9 c.png@27"},
	{"HTML over lines", "x <a\nhref='b&amp;c'\n/>", "b&c@11"},
	{"HTML in a quote", "> x <a\n> href='b'>", "b@15"},
	{"HTML block", "<div>\n<a href=b>[c](d)\n\n[e](f)", "b@14 f@28"},
	{"HTML block with one tag", "<x>\n[a](b)\n\nx\n<y>\n[c](d)", "d@22"},
	{"HTML block of text", "<script>\n<a href=b>\n\n<a href=c>\n</script>\n<a href=d>", "d@50"},
	{"no HTML", "< a href=b> <a href=b\n\n\\<a href=c>", ""},
	{"instruction", "x <?[a](b)?> <![CDATA[[c](d)]]> <!X [e](f)>", ""},
	{"comment", "a <!-- [b](c) --> d", "{ [b](c) }"},
	{"short comments", "a <!--> b <!---> c", "{} {}"},
	{"comment block", "<!-- [a](b)\n\n[c](d) --> <a href=e>\n[f](g)", "e@32 g@39 { [a](b)\n\n[c](d) }"},
	{"open comment block", "<!-- a\n\n[b](c)\n", "{ a\n\n[b](c)\n}"},
	{"comment in a block", "<div>\n<!-- <a href=b> -->", "{ <a href=b> }"},
	{"comment in a quote", "> <!-- a\n> b -->", "{ a\n  b }"},
	{"no comment in code", "`<!-- a -->`\n\n    <!-- b -->", "`<!-- a -->` <<!-- b -->>"},
	{"half a comment", "a <!-- [b](c)", "c@11"},

	{"table", "|a|b|\n|-|-|\n|[c](d)|`e\\|f`|", "d@17 `e|f`"},
	{"table splits code", "|a|b|\n|-|-|\n|`c|d`|", ""},
	{"table without bars at the ends", "a|b\n:-|-:\n`c`|`d`", "`c` `d`"},
	{"cells too many", "|a|\n|-|\n|`b`|`c`|", "`b`"},
	{"no table", "|a|b|\n|-|\n`c|d`", "`c|d`"},
	{"table after text", "`a\n|b`|\n|-|\n|`c`|", "`c`"},
	{"link over cells", "|a|b|\n|-|-|\n|[c|d](e)|", ""},

	{"footnote", "a[^1]\n\n[^1]: [b](c)\n\n    `d`\n", "c@17 `d`"},
	{"footnotes by use", "[^b] [^a]\n\n[^a]: [c](d)\n[^b]: [e](f)\n", "f@34 d@21"},
	{"unused footnote", "[^1]: [b](c) `d` <!-- e -->\n\n    ```\n    f", "<f> { e } open@33"},
	{"footnote that is a link", "[^1](b)", "b@5"},
	{"footnote and image", "![^1](b)\n\n[^1]: c", ""},
	{"code in a footnote", "[^1]\n\n[^1]: a\n\n        b\n", "<b>"},

	{"CRLF", "# a\r\n\r\n[b](c)\r\n```sh\r\nd\r\n```\r\n", "c@11 sh<d>"},
	{"NUL", "[a\x00](b\x00c)", "b\x00c@5"},
	{"invalid UTF-8", "[\xff](\xfe)", "\xfe@4"},
	{"BOM", "\ufeff[a](b)", "b@7"},
	{"underlined", "[a](b)\n`c`\n---\n- `d`", "b@4 `c` `d`"},
	{"rule", "a\n***\n`b`\n", "`b`"},
	{"tabs", ">\t[a](b)\n-\t[c](d)\n\n\t[e](f)", "b@6 d@15 f@24"},
}

// TestRead checks the result for each construct, which is the same as goldmark's.
func TestRead(t *testing.T) {
	for _, c := range pages {
		t.Run(c.name, func(t *testing.T) {
			if got := show(Read([]byte(c.text), 0)); got != c.want {
				t.Errorf("%q\n%s, want\n%s", c.text, got, c.want)
			}
			if d, ok := compare([]byte(c.text)); d != "" || !ok {
				t.Errorf("%q: goldmark: %s", c.text, d)
			}
		})
	}
}

// TestDepartures checks that where this package differs from goldmark, no text of the author is lost.
func TestDepartures(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"brackets far away", "[ " + strings.Repeat("a", 500) + " [ " + strings.Repeat("a", 500) + " [ [b](c)", "c@1012"},
		{"title that is none", "[a]: b\n'c' [d]: e\n\n[a] [d]", "b@5"},
		{"title with no end", "[a]: b\n(( c\n[a]: d\n", "b@5"},
		{"destination on its own line", "[a]:\nb\n'c' d [a]", "b@5"},
		{"footnote in a footnote", "[^1] [^2]\n\n[^1]: [^2]: [a](b)\n\n[c](d)", "d@35 b@27"},
		{"many parentheses", "[a](" + strings.Repeat("(", 33) + strings.Repeat(")", 33) + ")", ""},
		{"replacement character", "x <img alt='\ufffd' src=y>", "y@21"},
		{"comments and footnotes", "[^1]: a\n\nx <!-- b -->\n\n[^2]: x <!-- c", "{ b }"},
		{"table before an underline", "[a](b)\n|[c](d)|\n|-|\n---", "b@4 d@12"},
		{"line's end in a span", "`\r\na\r\n`", "`a`"},
		{"no footnote", "a!`^1]`\n\n[^1]: b", "`^1]`"},
		{"backslash before two spaces", "a\\  \n\\[a](b)", ""},
		{"three backslashes", "\\\\\\\n\\[a](b)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := show(Read([]byte(c.text), 0)); got != c.want {
				t.Errorf("%q\n%s, want\n%s", c.text, got, c.want)
			}
			if _, ok := compare([]byte(c.text)); ok {
				t.Errorf("%q would be compared with goldmark", c.text)
			}
		})
	}
}

func TestLinkText(t *testing.T) {
	text := "x ![a `b` [c](d)](e) [f]\n\n[f]: g"
	var got []string
	for _, l := range Read([]byte(text), 0).Links {
		got = append(got, fmt.Sprintf("%s %d: %s", l.Target, l.Width, text[l.TextStart:l.TextEnd]))
	}
	if want := []string{"e 1: a `b` [c](d)", "d 1: c", "g 1: f"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWidth(t *testing.T) {
	if l := Read([]byte("[a](ü&amp;é)"), 0).Links[0]; l.Target != "ü&é" || l.Width != 7 {
		t.Errorf("%+v", l)
	}
}

// TestFrom checks that a page can be the later part of a text, with offsets in the whole text.
func TestFrom(t *testing.T) {
	const front = "---\nx: [a](b) ```\n---\n"
	text := front + "# c\n\n[d](e) `f` <!-- g -->\n\n```sh\nh\n"
	p := Read([]byte(text), len(front))
	if got, want := show(p), "e@31 `f` sh<h> { g } open@50"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for at, line := range p.Commands() {
		if text[at:at+len(line)] != "h" {
			t.Errorf("%d %s", at, line)
		}
	}
	if s := p.Spans[0]; text[s.Offset:s.End] != "f" {
		t.Errorf("%+v", s)
	}
	if c := p.Comments[0]; text[c.Offset:c.End] != "<!-- g -->" {
		t.Errorf("%+v", c)
	}
	if p.InCode(12) || !p.HasAnchor("c") {
		t.Error("what is before the page is in it")
	}
	if p := Read([]byte(front), len(front)); show(p) != "" {
		t.Error(show(p))
	}
}

func TestCommands(t *testing.T) {
	p := Read([]byte("```sh\na\nb\n```\n\n```\nc\n```\n```py\nd\n```\n> ~~~ Console x\n> e\n\n    f\n"), 0)
	var got []string
	for _, line := range p.Commands() {
		got = append(got, string(line))
	}
	if want := []string{"a", "b", "c", "e"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range p.Commands() { // stops when it is told to
		break
	}
	for _, line := range p.Lines(p.Blocks[3]) {
		if string(line) != "e" {
			t.Errorf("%q", line)
		}
		break
	}
}

func TestInCode(t *testing.T) {
	text := "a `b` c\n\n```\nd\n```\n\n    e\n\n<!-- f -->\n\n<pre>\ng\n</pre>\n\n[^1]: `h`\n\nx <!-- i `j` --> `k`"
	p := Read([]byte(text), 0)
	for _, c := range "abcdefghik" {
		at := strings.IndexRune(text, c)
		if c == 'e' {
			at = strings.Index(text, "    e") + 4
		}
		if code := strings.ContainsRune("bdeghk", c); p.InCode(at) != code {
			t.Errorf("%c at %d: code %t", c, at, p.InCode(at))
		}
	}
	if !p.InCode(2) || !p.InCode(4) || p.InCode(5) || !p.InCode(9) || p.InCode(len(text)) {
		t.Error("backticks and fences")
	}
}

// TestReader checks that a reused reader returns the same, and does not change its earlier pages.
func TestReader(t *testing.T) {
	r := new(Reader)
	var read []*Page
	for _, c := range pages {
		read = append(read, r.Read([]byte(c.text), 0))
	}
	for i, c := range pages {
		if got := show(read[i]); got != c.want {
			t.Errorf("%q\n%s, want\n%s", c.text, got, c.want)
		}
	}
}
