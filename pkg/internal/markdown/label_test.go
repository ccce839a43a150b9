package markdown

import (
	"html"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// TestFoldRune checks that letters are folded to the same exactly if Unicode does so.
func TestFoldRune(t *testing.T) {
	to, from := map[string]string{}, map[string]string{}
	for char := rune(0); char <= utf8.MaxRune; char++ {
		if !utf8.ValidRune(char) || char == utf8.RuneError {
			continue
		}
		want := string(util.DoFullUnicodeCaseFolding([]byte(string(char))))
		var got []byte
		if char < utf8.RuneSelf {
			got = foldLabel(nil, []byte("x"+string(char)+"x"))
			want = util.ToLinkReference([]byte("x" + string(char) + "x"))
		} else {
			got = foldRune(nil, char)
		}
		if before, ok := to[want]; ok && before != string(got) {
			t.Errorf("%U is folded to %q, others with it to %q", char, got, before)
		}
		if before, ok := from[string(got)]; ok && before != want {
			t.Errorf("%U is folded to %q, which is that of %q and not of %q", char, got, before, want)
		}
		to[want], from[string(got)] = string(got), want
	}
}

func TestFoldLabel(t *testing.T) {
	for label, want := range map[string]string{
		"a": "a", " A \t\n b\v": "a b", "ẞ ß": "ss ss", "ﬁ": "fi", "\xff A": "\xff a", "": "",
	} {
		if got := string(foldLabel(nil, []byte(label))); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

func TestTarget(t *testing.T) {
	for destination, want := range map[string]string{
		"a": "a", `\`: `\`, `\a\\`: `\a\`, `\&amp;`: "&amp;", "&amp;amp;": "&amp;", "&": "&", "&;": "&;", "&#;": "&#;", "&#x;": "&#x;",
		"&#0;": "\ufffd", "&#xD800;": "\ufffd", "&#046;": ".", "&#12345678;": "&#12345678;", "&#x1234567;": "&#x1234567;",
		"&notit;": "&notit;", "&not;": "¬", "&NotEqualTilde;": "≂̸", "&copy": "&copy", "&#128;": "\u0080", "&#X41;": "A", "&a#;": "&a#;",
		"&CounterClockwiseContourIntegral;": "∳", "&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;": "&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;",
	} {
		if got := string(appendDestination(nil, []byte(destination))); got != want {
			t.Errorf("%q: %q, want %q", destination, got, want)
		}
	}
}

// FuzzEntity checks that a name is an entity exactly if goldmark knows it.
func FuzzEntity(f *testing.F) {
	for _, name := range []string{"amp", "copy", "notin", "notit", "nGt", "AMP", "fjlig", "gt1", "x"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, c := range []byte(name) {
			if !isAlnum(c) {
				return
			}
		}
		if name == "" || len(name) > 32 {
			return
		}
		want := "&" + name + ";"
		if _, ok := util.LookUpHTML5EntityByName(name); ok {
			want = html.UnescapeString(want)
		}
		if got := string(appendDestination(nil, []byte("&"+name+";"))); got != want && name != "Abreve" { // which goldmark lacks
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	})
}
