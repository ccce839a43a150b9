package atom

import (
	"reflect"
	"regexp"
	"regexp/syntax"
	"testing"
)

func windowOf(text string) *Window {
	w := &Window{}
	w.Set([]byte(text))
	return w
}

func TestWindow(t *testing.T) {
	w := windowOf("Send it to HTTPS://a.example/ÄÖ")
	for text, want := range map[string]int{"https://": 11, "send it": 0, "tends": -1, "end": 1, "\xc3\x84": 29, "t": 6, "z": -1} {
		if got := w.Index(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	w.Set([]byte("other"))
	if w.Index("send") >= 0 || w.Index("other") != 0 {
		t.Error("the window keeps the text before")
	}
}

func parse(t *testing.T, text string) *syntax.Regexp {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		t.Skip(err)
	}
	return re
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		expression string
		want       Sequence
	}{
		{`\b(?:upload|send)\b[^\n]*\bto\b[^\n]*https?://[a-z]`, Sequence{{"send", "upload"}, {"http://", "https://"}}},
		{`abcd[0-9]+(?:efgh)+ijk`, Sequence{{"abcd"}, {"efgh"}, {"ijk"}}},
		{`a(?:bc|de)f`, Sequence{{"abcf", "adef"}}},
		{`(?:word|.)[a-z]`, nil},
		{`(?i)запрос|ab`, nil},
		{`(?i)用户[a-z]`, Sequence{{"用户"}}},
		{`\bcurl\b.*(?:~/\.[a-z]+|/tmp/[a-z])`, Sequence{{"curl"}, {"/tmp/", "~/."}}},
	} {
		if got := Needs(parse(t, c.expression)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.expression, got, c.want)
		}
	}
}

func TestSequenceIn(t *testing.T) {
	q := Sequence{{"aba", "abab"}, {"bad"}}
	for text, want := range map[string]bool{
		"aba bad": true, "ababad": true, "abad": false, "bad aba": false, "abab": false, "": false,
	} {
		if got := q.In(windowOf(text)); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

// FuzzNeeds checks that no match is missed.
func FuzzNeeds(f *testing.F) {
	f.Add(`\b(?:upload|send)\b[^\n]*to (?:it|the page)`, "please send this to the page")
	f.Add(`(?:abc)+bcd`, "abcbcd")
	f.Add(`ab?cd{2,3}e|xyz+`, "abcdde xyzz")
	f.Fuzz(func(t *testing.T, expression, text string) {
		re := parse(t, expression)
		compiled, err := regexp.Compile(expression)
		if err != nil || len(expression) > 200 || re.Flags&syntax.FoldCase != 0 {
			t.Skip()
		}
		for _, c := range []byte(text) {
			if c >= 'A' && c <= 'Z' {
				t.Skip("the text is in lower case")
			}
		}
		if compiled.MatchString(text) && !Needs(re).In(windowOf(text)) {
			t.Errorf("%s matches %q, which is said to lack %q", expression, text, Needs(re))
		}
	})
}
