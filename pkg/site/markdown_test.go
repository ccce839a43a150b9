package site

import (
	"strings"
	"testing"
	"time"
)

func TestSlowT(t *testing.T) {
	n := 120000
	for name, s := range map[string]string{
		"lists": strings.Repeat("- ", n), "quotes": strings.Repeat(">", n), "brackets": strings.Repeat("[", n), "stars": strings.Repeat("*a ", n),
		"stars2": strings.Repeat("*a **a ", n/4), "ticks": strings.Repeat("`a``b", n/4), "lt": strings.Repeat("<a ", n/2), "links": strings.Repeat("[a](", n/4), "img": strings.Repeat("![", n/2),
		"under": strings.Repeat("_a __", n/4), "tilde": strings.Repeat("~~a ~", n/4),
		"nest": func() string {
			var b strings.Builder
			for i := range 600 {
				b.WriteString(strings.Repeat(" ", 2*i) + "- a\n")
			}
			return b.String()
		}(),
		"table": "|" + strings.Repeat("a|", 5000) + "\n|" + strings.Repeat("-|", 5000) + "\n" + strings.Repeat("|a\n", 20000),
		"refs":  strings.Repeat("[a]: b\n", 20000), "paras": strings.Repeat("a\n", n), "entities": strings.Repeat("&amp;", n/4), "tabs": strings.Repeat("\t", n) + "a",
		"hashes": strings.Repeat("# a\n", 30000), "html": strings.Repeat("<div>\n", 30000), "comment": strings.Repeat("<!--", 30000), "paren": "[a](" + strings.Repeat("(", n), "quotedlist": strings.Repeat("> ", 50) + "a",
	} {
		at := time.Now()
		out, _ := prose([]byte(s), 3, "x-")
		t.Logf("%-10s %8d -> %9d %v", name, len(s), len(out), time.Since(at))
	}
}
