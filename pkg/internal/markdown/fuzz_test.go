package markdown

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxText limits the texts for goldmark, which needs quadratic time for some.
const maxText = 4096

// FuzzRead checks that any text is read like goldmark reads it.
func FuzzRead(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxText {
			return
		}
		if difference, _ := compare(text); difference != "" {
			t.Fatalf("%q: %s", text, difference)
		}
		checkPlaces(t, text)
	})
}

// checkPlaces checks that all positions are correct, and that nothing depends on the text before the page.
func checkPlaces(t *testing.T, source []byte) {
	t.Helper()
	const before = "x [y](z) `\n\n```\n\n"
	r := new(Reader)
	p, moved := r.Read(source, 0), r.Read([]byte(before+string(source)), len(before))
	if len(p.Links) != len(moved.Links) || len(p.Spans) != len(moved.Spans) || len(p.Blocks) != len(moved.Blocks) {
		t.Fatalf("%q: %s behind something else", source, show(moved))
	}
	for i, l := range p.Links {
		m := moved.Links[i]
		if m.Offset -= len(before); m.TextEnd > 0 {
			m.TextStart -= len(before)
			m.TextEnd -= len(before)
		}
		if m != l {
			t.Fatalf("%q: %+v, behind something else %+v", source, l, m)
		}
		if !strings.ContainsAny(l.Target, "\\&") && l.Width == utf8.RuneCountInString(l.Target) && !bytes.HasPrefix(source[l.Offset:], []byte(l.Target)) {
			t.Fatalf("%q: %+v is not there", source, l)
		}
	}
	for i, s := range p.Spans {
		if s.Text != moved.Spans[i].Text || !p.InCode(s.Offset-1) || !p.InCode(s.End) {
			t.Fatalf("%q: %+v", source, s)
		}
	}
	for _, b := range p.Blocks {
		for at, line := range p.Lines(b) {
			if at < b.Offset || at+len(line) > b.End || !p.InCode(at) && len(line) > 0 {
				t.Fatalf("%q: line %d of %+v", source, at, b)
			}
		}
	}
	for _, c := range p.Comments {
		if !bytes.HasPrefix(source[c.Offset:c.End], []byte("<!--")) {
			t.Fatalf("%q: %+v", source, c)
		}
	}
}

// FuzzTokens checks the same for texts of tokens that have a meaning in Markdown.
func FuzzTokens(f *testing.F) {
	for i := range tokens {
		f.Add([]byte{byte(i), byte(i * 7), byte(i * 31), byte(i)})
	}
	f.Fuzz(func(t *testing.T, numbers []byte) {
		if len(numbers) > maxText/4 {
			return
		}
		var b strings.Builder
		for _, n := range numbers {
			b.WriteString(tokens[int(n)%len(tokens)])
		}
		if difference, _ := compare([]byte(b.String())); difference != "" {
			t.Fatalf("%q: %s", b.String(), difference)
		}
		checkPlaces(t, []byte(b.String()))
	})
}

// tokens are the parts of test texts.
var tokens = []string{
	"\n", "\n", "\n", "\n\n", "\r\n", " ", "  ", "    ", "\t", "a", "b", "x y", "é", "ß", "\x00", "\xff", "\ufffd",
	"> ", ">", ">\t", "- ", "-", "-\t", "* ", "+ ", "1. ", "1.", "2) ", "10. ", "# ", "## ", "#", "=", "===", "---", "***", "_",
	"```", "````", "~~~", "```sh\n", "\n```\n", "`", "``", "` ", " `", "    code\n",
	"[", "]", "![", "](", ")", "(", "[a]", "[b]", "[a]: ", "[b]: /u\n", "[a](b)", "![c](d)", "](b)", "][a]", "][]", "[]", ":",
	"[^1]", "[^1]: ", "[^2]", "[^2]:", "^",
	"<", ">", "</", "<a>", "<a href=x>", "<img src='y'>", "<div>", "</div>", "<div id=z\n", "<pre>", "</pre>", "<!--", "-->", "<!-- c -->",
	"<?", "?>", "<!X", "<![CDATA[", "]]>", "<http://u>", "<m@h.c>", "\"", "'", "\"t\"", "'t'", "(t)", "<b c>", "/>", "=",
	"\\", "\\\\", "\\\n", "&", "&amp;", "&#46;", "&lt", "*", "**", "|", "|a|b|\n", "|-|-|\n", ":-", "-|-", "\\|", "{#id}", "https://u.v/",
}

var seeds = []string{
	"# a\n\n[b](c) `d`\n",
	"a\n===\n\nb\n---\n",
	"> - [a](b)\n>   [c]: d\n> [c]\n",
	"- a\n\n  b\n-\n\n  c\n1. d\n   - e\n2. f\n",
	"```sh\n./a.sh\n```\n\n~~~\nb\n",
	"    code\n\n\tmore\n",
	"[a]: <b c> 'd\ne'\n[f]:\ng\n\n[a] [f][] [x][a] ![A]\n",
	"<div id=a>\n<a href='b'>\n\n<!-- c\n\nd -->\n<pre>\n<a href=x>\n</pre>\n",
	"x <img\nsrc=y> <!-- c --> <http://a.b> <a@b.c> <? d ?>\n",
	"|a|b|\n|-|:-:|\n|`c\\|d`|[e](f)|g|\n",
	"a[^1] b[^2]\n\n[^2]: [c](d)\n\n    e\n[^1]: `f`\n[^3]: [g](h)\n",
	"[a](b(c)d \"e\") [f](<g h>) [i]() ![[j](k)](l) [[m](n)](o)\n",
	"`` a`b `` ``` c `d` \\`e` \n",
	"- - - a\n> > b\nlazy\n",
	"[a\\]](b\\)c&amp;d&#101;)\n\\[e](f) \\![g](h)\n",
	"\ufeff# a\r\n\r\n[b](c)\r\n",
}
