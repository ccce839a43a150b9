package site

import (
	"strings"
	"testing"
	"time"
)

// TestProseSlow renders texts that are designed to keep a parser busy.
func TestProseSlow(t *testing.T) {
	for name, text := range map[string]string{
		"links":          strings.Repeat("[a](", 9999) + strings.Repeat("a", 200_000),
		"pointed links":  strings.Repeat("[a](<b", 9999) + strings.Repeat("a", 180_000),
		"titles":         strings.Repeat(`[a](b "c`, 9999) + strings.Repeat("a", 170_000),
		"references":     strings.Repeat("[a][", 9999) + strings.Repeat("a", 200_000),
		"images":         strings.Repeat("![a](", 9999) + strings.Repeat("a", 190_000),
		"lists in lines": strings.Repeat("[a](b\n", 9999) + strings.Repeat("a\n", 90_000),
		"comments":       strings.Repeat("<!-- a ", 9999) + strings.Repeat("a", 170_000),
		"instructions":   strings.Repeat("<? a ", 9999) + strings.Repeat("a", 170_000),
		"declarations":   strings.Repeat("<!A ", 9999) + strings.Repeat("a", 170_000),
		"data":           strings.Repeat("<![CDATA[", 9999) + strings.Repeat("a", 160_000),
		"tags":           strings.Repeat("<a b='", 9999) + strings.Repeat("a", 190_000),
		"ticks":          ticks(),
		"emphasis":       strings.Repeat("*a _b ", 9999) + strings.Repeat("a", 190_000),
		"definitions":    strings.Repeat("[a]: b '\n", 9999) + strings.Repeat("a\n", 80_000),
		"parens":         "[a](" + strings.Repeat("(", 200_000),
		"escapes":        strings.Repeat(`[a](\`, 9999) + strings.Repeat(`\a`, 90_000),
	} {
		start := time.Now()
		prose([]byte(text), 2, "x-")
		if took := time.Since(start); took > 5*time.Second { // some took eight
			t.Errorf("%s: %v", name, took)
		}
	}
	list := strings.Repeat("- [A link](https://example.com/some/where/far/away) to what is worth reading, and why it is.\n", 900)
	for name, text := range map[string]string{"a long list": list, "long lists": list + "\n" + list + "\n" + list} {
		if html, _ := prose([]byte(text), 2, "x-"); !strings.Contains(html, "<li>") {
			t.Errorf("%s is not rendered", name)
		}
	}
}

// ticks has an unclosed run of backquotes of each length.
func ticks() string {
	var b strings.Builder
	for n := 1; b.Len()+n < 9900; n++ {
		b.WriteString(strings.Repeat("`", n) + " ")
	}
	return b.String() + strings.Repeat("a", 200_000)
}
