package page_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/page"
)

func TestText(t *testing.T) {
	const text = "a\n\tb\u202e\u2066\u200f\U000e0041\x1b[2J\x00\xffé"
	for _, c := range []struct{ got, want string }{
		{page.Lines(text), "a\n\tb����\ufffd[2J��é"},
		{page.Lines("a\r\nb\rc"), "a\nb\ufffdc"},
		{page.Visible(text), "a  b����\ufffd[2J��é"},
		{page.Plural(1, "run"), "1 run"},
		{page.Plural(1200, "run"), "1,200 runs"},
		{page.Duration(999), "999 ms"},
		{page.Duration(59_900), "59.9 s"},
		{page.Duration(90_000), "1.5 min"},
		{page.Duration(5_400_000), "1.5 h"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestDocument checks that a document loads nothing, and that its texts are not interpreted.
func TestDocument(t *testing.T) {
	const evil = `</title><script>alert(1)</script>`
	var b bytes.Buffer
	m := page.Meta{Title: evil, Creator: evil, Created: time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)}
	if err := page.Document(m).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	if strings.Contains(html, "<script") || strings.Count(html, "&lt;script&gt;") != 3 {
		t.Errorf("the page has %s", html)
	}
	if !strings.Contains(html, `content="default-src &#39;none&#39;;`) && !strings.Contains(html, `content="default-src 'none';`) {
		t.Error("the page may load resources")
	}
	if !strings.Contains(html, "created this page on 1 November 2026, 10:00") {
		t.Error("the page does not have a date")
	}
}
