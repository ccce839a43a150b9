package textx

import (
	"strings"
	"testing"
)

func TestCounts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0, "skill"), "0 skills"},
		{Count(1, "skill"), "1 skill"},
		{Count(int64(1234), "skill"), "1234 skills"},
		{CountOf(1, "entry", "entries"), "1 entry"},
		{CountOf(2, "entry", "entries"), "2 entries"},
		{Thousands(0), "0"},
		{Thousands(999), "999"},
		{Thousands(1000), "1,000"},
		{Thousands(-123456), "-123,456"},
		{Thousands(1234567), "1,234,567"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestLists(t *testing.T) {
	words := strings.Fields("a b c d")
	for _, c := range []struct{ got, want string }{
		{And(nil), ""},
		{And(words[:1]), "a"},
		{And(words[:2]), "a and b"},
		{And(words), "a, b, c, and d"},
		{First(words, 4), "a, b, c, d"},
		{First(words, 2), "a, b, …"},
		{FirstAndMore(words, 4), "a, b, c, d"},
		{FirstAndMore(words, 3), "a, b, c and 1 more"},
		{FirstAndMore(nil, 3), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestTruncation(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{OneLine(" a\n\tb \xff c\r\n"), "a b \ufffd c"},
		{Prefix("äöü", 6), "äöü"},
		{Prefix("äöü", 5), "äö"},
		{Prefix("äöü", 1), ""},
		{Truncate("abc", 3), "abc"},
		{Truncate("abcd", 3), "abc…"},
		{Truncate("äöü", 3), "ä…"},
		{TruncateRunes("äöü", 3), "äöü"},
		{TruncateRunes("äöüß", 3), "äö…"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, c := range []struct{ got, want string }{
		{Position("a.md", 0), "a.md"},
		{Position("a.md", 12), "a.md:12"},
		{SHA256(""), empty},
		{SHA256([]byte(nil)), empty},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
