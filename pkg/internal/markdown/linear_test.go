package markdown

import (
	"fmt"
	"strings"
	"testing"
)

// TestLinear checks that a text of four times the size needs four times the work, even for texts that are designed to
// take long.
func TestLinear(t *testing.T) {
	repeat := func(unit string) func(int) string {
		return func(n int) string { return strings.Repeat(unit, n) }
	}
	lines := func(unit string) func(int) string { // the unit has a verb for a number
		return func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, unit, i)
			}
			return b.String()
		}
	}
	for name, text := range map[string]func(n int) string{
		"brackets":          repeat("["),
		"images":            repeat("!["),
		"closing brackets":  repeat("a]"),
		"nested brackets":   func(n int) string { return strings.Repeat("[", n) + "a" + strings.Repeat("]", n) },
		"nested labels":     func(n int) string { return "[a]: b\n\n" + strings.Repeat("[a ", n) + strings.Repeat("]", n) },
		"broken labels":     func(n int) string { return "[a]: b\n\n" + strings.Repeat("[\n", n) + strings.Repeat("]\n", n) },
		"nested images":     func(n int) string { return strings.Repeat("![", n) + "a" + strings.Repeat("](b)", n) },
		"nested links":      func(n int) string { return strings.Repeat("[", n) + "a" + strings.Repeat("](b)", n) },
		"destinations":      repeat("[a]("),
		"long destinations": repeat("[a](b"),
		"parentheses":       repeat("[a]((((b"),
		"angles":            repeat("[a](<b"),
		"angles by line":    repeat("[a](<b\n"),
		"titles":            repeat("[a](b \"c\n"),
		"mixed titles":      repeat("[a](b \"[a](b '"),
		"labels":            repeat("[a][b"),
		"long labels":       func(n int) string { return "[a]: b\n\n" + strings.Repeat("[a]["+strings.Repeat("b", 100), n) },
		"backslashes":       repeat("\\"),
		"escapes":           repeat("\\["),
		"backticks":         func(n int) string { return growing("`", n) },
		"backticks by line": func(n int) string { return growing("`\n", n) },
		"runs":              repeat("``` `` ` "),
		"comments":          repeat("a <!--"),
		"instructions":      repeat("a <?"),
		"declarations":      repeat("a <!X"),
		"data":              repeat("a <![CDATA["),
		"comment blocks":    repeat("<!--\n"),
		"tags":              repeat("<a "),
		"closing tags":      repeat("</a "),
		"attributes":        repeat("<a b='<a b=\""),
		"more attributes":   repeat("x <a b=\"<a c='\" d=\"' e='\" f"),
		"unclosed values":   repeat("x <a b=\"\n"),
		"blocks of tags":    repeat("<div a=\"\n"),
		"text blocks":       repeat("<pre></"),
		"addresses":         repeat("<a@a.a"),
		"URLs":              repeat("<http://a"),
		"quotes":            repeat("> "),
		"quotes by line":    func(n int) string { return strings.Repeat("> ", n) + "a\n" + strings.Repeat("b\n", n) },
		"lists":             repeat("- "),
		"rules":             func(n int) string { return strings.Repeat("* ", n) + "a" },
		"numbers":           repeat("1. "),
		"long numbers":      repeat("1"),
		"lists and blanks":  func(n int) string { return strings.Repeat("- ", n) + "a" + strings.Repeat("\n", 8*n) },
		"lists and words":   func(n int) string { return strings.Repeat("- ", n) + "a\n" + strings.Repeat("b\n", n) },
		"lists and spaces":  func(n int) string { return strings.Repeat("- ", n) + "a\n\n" + strings.Repeat(" ", 2*n) + "b\n" },
		"lists and tabs":    func(n int) string { return strings.Repeat("- ", n) + "a\n\n" + strings.Repeat("\t", n) + "b\n" },
		"lists, fence":      func(n int) string { return strings.Repeat("- ", n) + "```\n" + strings.Repeat("\n", 8*n) },
		"lists and quotes":  func(n int) string { return strings.Repeat("- > ", n) + "a\n" + strings.Repeat("\n\t\t> b\n", n) },
		"deeper lists":      func(n int) string { return deeper(n) },
		"definitions":       lines("[a%d]: b\n"),
		"same definitions":  repeat("[a]: b\n"),
		"broken titles":     repeat("[a]: b\n\"c\n\n"),
		"open titles":       func(n int) string { return "[a]: b \"" + strings.Repeat("c\n", n) },
		"references":        func(n int) string { return lines("[a%d]: b\n")(n) + "\n" + lines("[a%d] ")(n) },
		"tables":            func(n int) string { return "a\n" + strings.Repeat("|-", n) + "\n" + strings.Repeat("|a\n", n) },
		"wide rows":         func(n int) string { return "a\n|-|\n" + strings.Repeat("|[", n) },
		"no tables":         repeat("|-|\na|b|c\n"),
		"footnotes":         lines("[^%d]: a [^1]\n\n"),
		"footnote labels":   repeat("[^a"),
		"footnotes in line": repeat("[^a]:"),
		"footnotes used":    func(n int) string { return "[^a]: b\n\n" + strings.Repeat("[^a]", n) },
		"deep footnotes":    func(n int) string { return strings.Repeat("[^a]: ", n) + strings.Repeat("\nb\n", n) },
		"headings":          repeat("# a `b` [c](d)\n"),
		"long heading":      func(n int) string { return strings.Repeat("[c](d) `e`\n", n) + "===\n" },
		"underlines":        repeat("a\n===\n"),
		"fences":            repeat("```\na\n"),
		"no fences":         repeat("``` `\n"),
		"code":              repeat("    a\n\n"),
		"blanks":            func(n int) string { return "    a\n" + strings.Repeat("\n", n) },
		"spaces":            repeat(" "),
		"spaces in lines":   func(n int) string { return "a\n" + strings.Repeat(" ", n) + "b\n" + strings.Repeat("\t", n) + "c" },
		"ends of lines":     repeat("\r"),
		"hashes":            repeat("#"),
		"emphasis":          repeat("*a **b "),
		"entities":          func(n int) string { return "[a](" + strings.Repeat("&a", n) + ")" },
		"everything":        func(n int) string { return strings.Repeat(strings.Join(seeds, "\n\n"), n/50+1) },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 2000
			once, again := work(text(n)), work(text(4*n))
			if again > 5*once+1000 {
				t.Errorf("%d steps, but %d for four times the text", once, again)
			}
			if size := len(text(n)); once > 60*size+1000 {
				t.Errorf("%d steps for %d bytes", once, size)
			}
		})
	}
}

// work returns the number of steps to read a page.
func work(page string) int {
	r := new(Reader)
	r.Read([]byte(page), 0)
	return r.steps
}

// growing returns about 3n bytes of runs, each longer than the one before.
func growing(unit string, n int) string {
	var b strings.Builder
	for i := 1; b.Len() < 3*n; i++ {
		b.WriteString(strings.Repeat(unit[:1], i) + unit[1:] + " a")
	}
	return b.String()
}

// deeper returns about 3n bytes of a list in which every item is nested in the one before.
func deeper(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < 3*n; i++ {
		b.WriteString(strings.Repeat("  ", i) + "- a\n\n")
	}
	return b.String()
}
