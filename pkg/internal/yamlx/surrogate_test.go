package yamlx_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// TestSurrogatePairs covers row S1 of the specification: a pair of JSON escapes is one character in double quotes, and
// plain text elsewhere.
func TestSurrogatePairs(t *testing.T) {
	const text = `a: "key \ud83d\udd10 end"
b: '\uD83D\uDD10'
c: \ud83d\udd10
d: |
  {"icon": "\ud83d\udd10"}
e: {f: "\uD83D\uDD10", g: x} # \ud83d\udd10
h: "\\ud83d\\udd10"
`
	root, err := yamlx.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"a": "key 🔐 end", "b": `\uD83D\uDD10`, "c": `\ud83d\udd10`, "d": "{\"icon\": \"\\ud83d\\udd10\"}\n",
		"e f": "🔐", "h": `\ud83d\udd10`,
	} {
		if got := yamlx.Lookup(root, strings.Fields(key)...); got == nil || got.Value != want {
			t.Errorf("%s: got %+v, want %q", key, got, want)
		}
	}
	if g := yamlx.Lookup(root, "e", "g"); g.Line != 6 || g.Column != 27 {
		t.Errorf("the value after a pair is at %d:%d, want 6:27", g.Line, g.Column)
	}
}

func TestLoneSurrogates(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string
	}{
		{`a: "x \ud83d y"`, `\ud83d is half of a character, and the other half is missing`},
		{`a: "x \ud83d\udd10 \udd10"`, `\udd10 is half of a character, and the other half is missing`},
		{`a: "\\ud83d\udd10"`, `\udd10 is half of a character, and the other half is missing`},
		{`a: "\udd10\ud83d"`, `\udd10 is half of a character, and the other half is missing`},
	} {
		_, err := yamlx.Parse([]byte(tt.text))
		if err == nil {
			t.Errorf("%s: accepted", tt.text)
			continue
		}
		line, message := yamlx.ErrorLine(err)
		p := yamlx.Explain(message, strings.Split(tt.text, "\n"), max(line, 1))
		if p.Message != tt.want || tt.text[p.Column-1] != '\\' {
			t.Errorf("%s: got %q at column %d, want %q", tt.text, p.Message, p.Column, tt.want)
		}
	}
}
