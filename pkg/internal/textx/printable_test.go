package textx

import (
	"encoding/json"
	"strings"
	"testing"
)

// hostile are texts, how they are printed on one line, and how a log of a CI system gets them.
var hostile = []struct{ text, line, log string }{
	{"deploy 1.0: ok", "deploy 1.0: ok", "deploy 1.0: ok"},
	{"a\n::set-output name=t::v", "a\\u000a::set-output name=t::v", "a\n:\\u003aset-output name=t::v"},
	{" \u00a0\t::x", " \u00a0\\u0009::x", " \u00a0\t:\\u003ax"},
	{"a::b", "a::b", "a::b"},
	{"a\r::b", "a\\u000d::b", "a\r:\\u003ab"},
	{":::x", ":::x", ":\\u003a:x"},
	{"a ##[error]b", "a ##[error]b", "a ##\\u005berror]b"},
	{"###[a] #[b] [c]", "###[a] #[b] [c]", "###\\u005ba] #[b] [c]"},
	{"##vso[a]##VSO[b]##teamcity[c]", "##vso[a]##VSO[b]##teamcity[c]", "##vso\\u005ba]##VSO\\u005bb]##teamcity\\u005bc]"},
	{"## [a] ##ab[c]", "## [a] ##ab[c]", "## [a] ##ab[c]"},
	{"section_start:1:a\r\x1b[0K", "section_start:1:a\\u000d\\u001b[0K", "section_start:1:a\r\x1b[0K"},
	{"\u009b31m\u202e\u2066\u200b\u2028\u3164\ufe00", "\\u009b31m\\u202e\\u2066\\u200b\\u2028\\u3164\\ufe00", ""},
	{"❤️ é ẞ 日本", "❤️ é ẞ 日本", ""},
}

func TestPrintable(t *testing.T) {
	for _, c := range hostile {
		if got := Printable(c.text); got != c.line {
			t.Errorf("Printable(%q) = %q, want %q", c.text, got, c.line)
		}
	}
}

// TestGuard writes each text whole and in two parts.
func TestGuard(t *testing.T) {
	for _, c := range hostile {
		if c.log == "" {
			c.log = c.text
		}
		for i := range len(c.text) {
			var b strings.Builder
			g := Guard{Out: &b}
			for _, part := range []string{c.text[:i], c.text[i:]} {
				if n, err := g.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if b.String() != c.log {
				t.Errorf("%q in two parts at %d: %q, want %q", c.text, i, b.String(), c.log)
			}
		}
	}
}

// TestGuardJSON requires that a guarded document has the same value.
func TestGuardJSON(t *testing.T) {
	for _, c := range hostile {
		data, err := json.Marshal(map[string]string{c.text: c.text})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		got := map[string]string{}
		if _, err := (&Guard{Out: &b}).Write(data); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(b.String()), &got); err != nil || got[c.text] != c.text {
			t.Errorf("%s: %q, %v", data, got, err)
		}
	}
}
