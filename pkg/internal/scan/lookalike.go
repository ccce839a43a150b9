package scan

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// lookalikes are Cyrillic, Greek, and Armenian letters, and the Latin letters that they look like in most fonts.
var lookalikes = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i', 'ј': 'j', 'ѕ': 's', 'һ': 'h',
	'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'ӏ': 'l', 'ɡ': 'g', 'к': 'k', 'т': 't', 'п': 'n', 'г': 'r', 'м': 'm', 'н': 'h',
	'А': 'A', 'В': 'B', 'Е': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C', 'Т': 'T', 'Х': 'X',
	'Ѕ': 'S', 'І': 'I', 'Ј': 'J', 'ο': 'o', 'ν': 'v', 'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I',
	'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'Υ': 'Y', 'Χ': 'X', 'օ': 'o', 'ո': 'n', 'ս': 'u',
}

// Lookalike returns the word of Latin letters that a word looks like, if one or more of its letters are of another
// alphabet. A word with more letters of another alphabet than Latin ones, or with letters that do not look like Latin
// ones, is not an imitation; then ok is false, and latin is "" if some do not.
func Lookalike(word string) (latin string, ok bool) {
	var b strings.Builder
	letters, foreign := 0, 0
	for _, r := range word {
		switch like := lookalikes[r]; {
		case like != 0:
			foreign++
			b.WriteRune(like)
		case r < utf8.RuneSelf:
			if is(byte(r), isLetter) {
				letters++
			}
			b.WriteRune(r)
		case unicode.IsLetter(r):
			return "", false
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), foreign > 0 && letters >= foreign
}

// LookalikeHost returns the name that a host looks like, if a label of it mixes alphabets, or consists of four or more
// look-alike letters below a domain in Latin letters. Other names in one alphabet are not imitations. Labels may be
// encoded (xn--…, RFC 3492).
func LookalikeHost(host string) (latin string, ok bool) {
	if decoded, err := idna.Punycode.ToUnicode(host); err == nil {
		host = decoded
	}
	labels := strings.Split(host, ".")
	domain := labels[len(labels)-1]
	isLatin := domain != "" && allOf([]byte(domain), isLetter)
	for i, label := range labels {
		like, mixed := Lookalike(label)
		if mixed || isLatin && len(like) >= 4 && allOf([]byte(like), isLetter) && like != label {
			labels[i], ok = like, true
		}
	}
	return strings.Join(labels, "."), ok
}

// foreignLetter finds a word of Latin letters with one of another alphabet between two of them. Endings of other
// languages at the end of an English word, and Greek letters of formulas, are not between them. It returns how many
// bytes to advance.
func (t *text) foreignLetter(i int) int {
	_, n := utf8.DecodeRune(t.data[i:])
	if i < t.mixedTo || !is(t.after(i+n), isLetter) {
		return n
	}
	from, to := t.word(i, i+n)
	t.mixedTo = to // the other letters of the word have the same result
	if like, ok := Lookalike(string(t.data[from:to])); ok && to-from >= 4 && !t.namesAlphabet(i) {
		t.hit(MixedScript, from, to, fmt.Sprintf("imitates %s with %s", excerpt([]byte(like)), codePoint(t.data[i:])))
	}
	return n
}

// namesAlphabet reports whether the text around i tells readers about the letters of another alphabet.
func (t *text) namesAlphabet(i int) bool {
	return containsAny(t.around(i, 300, 300), "cyrillic", "greek", "homoglyph", "homograph", "look-alike", "lookalike",
		"confusable", "u+03", "u+04")
}

func codePoint(b []byte) string {
	r, _ := utf8.DecodeRune(b)
	return fmt.Sprintf("U+%04X", r)
}

// word returns the word around a part of it: its letters, digits, and underscores, at most 64 bytes to each side.
func (t *text) word(start, end int) (from, to int) {
	belongs := func(c byte) bool { return is(c, isWordy) || c >= utf8.RuneSelf }
	for from = start; from > 0 && start-from < 64 && belongs(t.data[from-1]); from-- {
	}
	for to = end; to < len(t.data) && to-end < 64 && belongs(t.data[to]); to++ {
	}
	t.scanned += to - from
	return from, to
}

// withoutRun returns a word without the invisible characters in it.
func (t *text) withoutRun(from int, run *invisible, to int) string {
	return excerpt(append(append([]byte{}, t.data[from:run.start]...), t.data[run.end:to]...))
}

// addressHost finds a host at i that looks like another.
func (t *text) addressHost(i int) {
	to, suspect := i, false
	for ; to < len(t.data) && to-i < 128; to++ {
		c := t.data[to]
		if !is(c, alnum) && c != '-' && c != '.' && c < utf8.RuneSelf {
			break
		}
		suspect = suspect || c >= utf8.RuneSelf
	}
	t.scanned += to - i
	host := bytes.TrimRight(t.data[i:to], ".-")
	if !suspect && !bytes.Contains(host, []byte("xn--")) {
		return
	}
	if like, ok := LookalikeHost(string(host)); ok {
		t.hit(MixedScript, i, i+len(host), "imitates "+excerpt([]byte(like)))
	}
}
