package run

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeeper(t *testing.T) {
	for _, c := range []struct {
		limit int
		text  string
		want  string
	}{
		{10, "", ""},
		{10, "0123456789", "0123456789"},
		{10, "0123456789a", "01234\n[1 bytes omitted]\n6789a"},
		{3, "0123456789", "0\n[7 bytes omitted]\n89"},
		{1, "0123456789", "\n[9 bytes omitted]\n9"},
		{0, "0123456789", ""},
		{10, "aäöü0123456789äöüa", "aäö\n[14 bytes omitted]\nöüa"},
		{8, "äöü0123456789äöü", "äö\n[14 bytes omitted]\nöü"},
		{10, "äöü0123456789äöü", "äö\n[14 bytes omitted]\nöü"},
	} {
		for _, step := range []int{1, 2, 3, 7, 100} {
			k := capture{limit: c.limit}
			for rest := []byte(c.text); len(rest) > 0; rest = rest[min(step, len(rest)):] {
				k.add(rest[:min(step, len(rest))])
			}
			if got := string(k.bytes(int64(len(c.text)))); got != c.want {
				t.Errorf("%q in %d bytes, by %d: %q, want %q", c.text, c.limit, step, got, c.want)
			}
		}
	}
}

func FuzzKeeper(f *testing.F) {
	f.Add("some text", 4, 3)
	f.Fuzz(func(t *testing.T, text string, limit, step int) {
		limit, step = min(max(limit, 0), 1000), min(max(step, 1), 1000)
		k := capture{limit: limit}
		for rest := []byte(text); len(rest) > 0; rest = rest[min(step, len(rest)):] {
			k.add(rest[:min(step, len(rest))])
		}
		got := k.bytes(int64(len(text)))
		if len(text) <= limit {
			if string(got) != text {
				t.Fatalf("%q is kept as %q", text, got)
			}
			return
		}
		if limit == 0 {
			return
		}
		if utf8.ValidString(text) && !utf8.Valid(got) {
			t.Fatalf("%q is cut in a character: %q", text, got)
		}
		head, rest, ok := bytes.Cut(got, []byte("\n["))
		if !ok || !strings.HasPrefix(text, string(head)) {
			return // the text has such a line itself
		}
		var missing int
		if _, err := fmt.Sscanf(string(rest), "%d bytes omitted]", &missing); err != nil {
			return
		}
		_, tail, _ := bytes.Cut(rest, []byte("]\n"))
		if strings.Contains(text, "]\n") || strings.Contains(text, "\n[") {
			return
		}
		if len(head)+missing+len(tail) != len(text) || !strings.HasSuffix(text, string(tail)) {
			t.Fatalf("%q in %d bytes is kept as %q", text, limit, got)
		}
	})
}
