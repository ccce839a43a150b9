package scan

import (
	"strings"
	"testing"
)

func tagged(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(0xE0000 + r)
	}
	return b.String()
}

func TestTagCharacters(t *testing.T) {
	scotland := blackFlag + tagged("gbsct\x7f")
	for _, c := range []textCase{
		{text: "hello «" + tagged("do it") + "» world", detail: "5 characters that read \"do it\""},
		{text: "one «" + tagged("\x01") + "»", detail: "1 character"},
		{text: "a flag: " + scotland + ", and again " + scotland},
		{text: "no flag: " + blackFlag + "«" + tagged("gbsct") + "»"},
		{text: "no flag: " + blackFlag + "«" + tagged("run this command\x7f") + "»"},
		{text: "no flag: " + blackFlag + " «" + tagged("gbsct\x7f") + "»"},
		{text: "no flag: " + blackFlag + "«" + tagged("gbsct\x7fx") + "»"},
	} {
		c.check(t, TagCharacters, Options{})
	}
}

func TestBidiControls(t *testing.T) {
	for _, c := range []textCase{
		{text: "if «\u202e» x", detail: "U+202E"},
		{text: "pay «\u2067»admin\u2069 now", detail: "U+2067"},
		{text: "«\u202b»if (a)\u202c שלום"},
		{text: "«\u2067»\u2066delete\u2069 \u2066never\u2069\u2069"},
		{text: "\u202bسلام (\u202aEnglish words\u202c)\u202c, \u202b\u202a5\u202c\u202c"},
		{text: "\u202bسلام\u202c و \u2067שלום\u2069"},
		{text: "\u202aNational\u202c Museum, \u2066a\u2069"},
		{text: "שלום\u200f! and \u200e1"},
		{text: "— “quoted” … \u2028 \u2029 \u2065 \u206a"},
		{text: "日本語、한국어"},
	} {
		c.check(t, BidiControls, Options{})
	}
	for _, c := range []textCase{
		{text: "return«\u2066» a"},
		{text: "a = /[«\u202e»-\ud7a3]/"},
		{text: "a = '«\u202a»-b'"},
		{text: "a = /[!-\u2027\u202a-\ud7a3]/"},
	} {
		c.check(t, BidiControls, Options{Script: true})
	}
}

func TestZeroWidthRun(t *testing.T) {
	zwsp, zwj := "\u200b", "\u200d"
	for _, c := range []textCase{
		{text: "a«" + zwsp + "\u200c" + zwj + "\u2060»b", detail: "4 invisible characters in a row"},
		{text: "«" + strings.Repeat("\ufeff", 5) + "»"},
		{text: "😀«" + strings.Repeat("\ufe01", 6) + "»"},
		{text: "😀«" + strings.Repeat("\U000E0101", 6) + "»"},
		{text: "a" + strings.Repeat(zwsp, 3) + "b" + strings.Repeat(zwsp, 3)},
		{text: "👨" + zwj + "👩" + zwj + "👧" + zwj + "👦 ❤\ufe0f" + zwj + "🔥 🏴" + zwj + "☠\ufe0f"},
		{text: "remove(\"\u200b\u200c\u200d\u2060\")"},
		{text: "show(\"«\u200b\u200c\u200b\u200c»\")"},
		{text: "می\u200cخواهم"},
		{text: "\ufeff# a page with a byte order mark"},
	} {
		c.check(t, ZeroWidthRun, Options{})
	}
}

func TestBlankPadding(t *testing.T) {
	for _, c := range []textCase{
		{text: "a\n" + strings.Repeat("\n", 80) + "«b»\nc", detail: "80 blank lines"},
		{text: strings.Repeat("\n", 80) + "«b»"},
		{text: "a\n" + strings.Repeat(" \t \r\n", 100) + "    «hidden»", detail: "100 blank lines"},
		{text: strings.Repeat("x", 39) + "\n" + strings.Repeat("\n", 80) + "«b»"},
		{text: "a\n" + strings.Repeat("\n", 79) + "b"},
		{text: "a\n" + strings.Repeat("\n", 200)},
		{text: "a\n" + strings.Repeat("\n\nx", 200)},
		{text: "a" + strings.Repeat(" ", 2000) + "b"},
	} {
		c.check(t, BlankPadding, Options{})
	}
	for n := range 100 { // wherever the run lies
		text := strings.Repeat("y", n) + "\n" + strings.Repeat("\n", minBlankLines) + "z"
		if hits := New().Text([]byte(text), Options{}); len(hits) != 1 {
			t.Errorf("after %d bytes: %v", n, hits)
		}
	}
}

func TestHiddenInBrokenText(t *testing.T) {
	for _, broken := range []string{"\xe9", "\xe2", "\xf0\x9f", "\xff", "\xef\xbb"} {
		hits := New().Text([]byte("x"+broken+"\u202e"), Options{})
		if len(hits) != 1 || hits[0].Kind != BidiControls {
			t.Errorf("after %q: %v", broken, hits)
		}
	}
}

func TestZeroWidthWord(t *testing.T) {
	for _, c := range []textCase{
		{text: "Please «ig\u200bnore» the rules.", detail: `1 in "ignore"`},
		{text: "Send the «pass\u200d\u200cword» on."},
		{text: "«exe\u2060c»(code)"},
		{text: "run «dele\ufeffte_all»"},

		{text: "Persian \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 is joined."},
		{text: "A family: \U0001F468\u200d\U0001F469\u200d\U0001F467"},
		{text: "word\u200b and \u200bword"},
		{text: "path/\u200bto/\u200bfile"},
		{text: "Catalog\u200bUser\u200bError"},
		{text: "ig\u200b\u200c\u200d\u2060nore"}, // a longer run is reported as such
	} {
		c.check(t, ZeroWidthWord, Options{Markdown: true})
	}
	names := textCase{text: "Catalog«\u200b»User\u200bError", detail: "2 between the words of names"}
	names.check(t, ZeroWidthBreak, Options{})
}

func TestMixedScript(t *testing.T) {
	for _, c := range []textCase{
		{text: "pip install «r\u0435quests»", detail: "imitates requests with U+0435"},
		{text: "Log in at «p\u0430ypal».com today", detail: "imitates paypal with U+0430"},
		{text: "Log in at https://«xn--80ak6aa92e.com»/login", detail: "imitates apple.com"},
		{text: "https://«\u0430\u0440\u0440\u04cf\u0435.com»/login", detail: "imitates apple.com"},
		{text: "read «AC\u039fUNT_NAME» from it"},
		{text: "def «get_t\u043eken»(): pass"},
		{text: "«h\u0435ll\u043eworld»"},

		{text: "\u043f\u0440\u0438\u0432\u0435\u0442 hello"},
		{text: "JSON\u043e\u043c and API\u0430"},
		{text: "5\u03bcm, \u0394t, \u03b1-helix, f\u03c0x"},
		{text: "\u0421\u0421\u0421\u0420 x"},
		{text: "caf\u00e9, na\u00efve, \u00fcber"},
		{text: "x\u0434y is \u0436"},
		{text: "// d\u0435lve has a Cyrillic letter (U+0435)"},
		{text: "https://\u043e\u043a\u043d\u0430.\u0440\u0444/ and https://xn--bcher-kva.de/"},
	} {
		c.check(t, MixedScript, Options{Markdown: true})
	}
}

func TestLookalikeHost(t *testing.T) {
	for host, want := range map[string]string{
		"p\u0430ypal.com": "paypal.com", "api.g\u0456thub.com": "api.github.com", "g\u043e\u043egle.com": "google.com",
		"github.com": "", "\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444": "", "b\u00fccher.de": "",
		"xn--80ak6aa92e.com": "apple.com", "\u0430\u0440\u0440\u04cf\u0435.com": "apple.com",
		"\u0441\u043e\u0440.com": "", "\u043e\u043a\u043d\u0430.\u0440\u0444": "", "xn--bcher-kva.de": "", "": "", "a..": "",
	} {
		like, ok := LookalikeHost(host)
		if ok != (want != "") || ok && like != want {
			t.Errorf("%s: %q %v, want %q", host, like, ok, want)
		}
	}
}

func TestTerminalEscape(t *testing.T) {
	for _, c := range []textCase{
		{text: "Safe.«\x1b[8m»rm -r x\x1b[0m", detail: "hides the text after it"},
		{text: "curl x | sh«\x1b[2K»\r# nothing", detail: "moves the cursor or erases text"},
		{text: "one «\x1b[1A»two"},
		{text: "copy «\x1b]52»;c;ZWNobw==\x07", detail: "writes to the clipboard"},
		{text: "«\x1b]8»;;https://a.example\x07docs.acme.io\x1b\\", detail: "shows a link under another text"},

		{text: "\x1b[31mred\x1b[0m and \x1b[38;5;8mgray\x1b[m"},
		{text: `printf '\x1b[2K'; printf "\033[8m"`},
		{text: "\x1b[1;32mPASS\x1b[0m ok"},
		{text: "cut off \x1b["},
	} {
		c.check(t, TerminalEscape, Options{Markdown: true})
	}
}

// TestMixedScriptHidesNothing finds characters that follow a look-alike letter in its word.
func TestMixedScriptHidesNothing(t *testing.T) {
	data := []byte("p\u0430yp\u202eal and r\u0435que\u200b\u200c\u200d\u2060sts")
	found := map[Kind]int{}
	for _, h := range New().Text(data, Options{}) {
		found[h.Kind]++
	}
	if found[BidiControls] != 1 || found[ZeroWidthRun] != 1 || found[MixedScript] != 2 {
		t.Errorf("%v", found)
	}
}
