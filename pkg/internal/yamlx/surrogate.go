package yamlx

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"
)

// JSON writes a character outside of the Basic Multilingual Plane as two escapes, a surrogate pair: "\ud83d\udd10". Most
// YAML parsers accept such a pair in double quotes, but the YAML library does not. [HideSurrogates] hides pairs from the
// library: it replaces each half with an escape of the same length, for a character of private use. [restoreSurrogates] undoes
// that in the nodes.

// The first and last character that stands for a half: 0x1000 above the surrogate.
const (
	firstHalf = 0xe800
	lastHalf  = 0xefff
	shiftHalf = 0x1000
)

// hiddenPair matches a pair that [hideSurrogates] replaced, as text.
var hiddenPair = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\\u)([eE])([89abAB][0-9a-fA-F]{2}\\u)([eE])([c-fC-F][0-9a-fA-F]{2})`)
})

// isSurrogateError reports whether the YAML library rejects an escape because it is half of a character.
func isSurrogateError(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "found invalid Unicode character escape code")
}

// HideSurrogates replaces the surrogate pairs of a YAML text by escapes of the same length that the YAML library
// accepts. It returns false if there are none, or if the text has characters of private use that could be confused with
// them.
func HideSurrogates(data []byte) (hidden []byte, ok bool) {
	isHalf := func(r rune) bool { return r >= firstHalf && r <= lastHalf }
	if hiddenPair().Match(data) || bytes.ContainsFunc(data, isHalf) {
		return nil, false
	}
	for at := 0; ; at += pairLength {
		if at = nextHalf(data, at, isPair); at < 0 {
			return hidden, ok
		}
		if hidden == nil {
			hidden, ok = bytes.Clone(data), true
		}
		hidden[at+2]++ // d becomes e, and D becomes E
		hidden[at+escapeLength+2]++
	}
}

// The number of bytes of an escape and of a pair.
const (
	escapeLength = len(`\ud83d`)
	pairLength   = 2 * escapeLength
)

// nextHalf returns the offset of the next escape that matches, or -1. It skips escaped backslashes.
func nextHalf(data []byte, at int, matches func([]byte) bool) int {
	for {
		i := bytes.IndexByte(data[at:], '\\')
		if i < 0 {
			return -1
		}
		at += i
		if matches(data[at:]) {
			return at
		}
		at = min(at+2, len(data))
	}
}

func isPair(text []byte) bool {
	return len(text) >= pairLength && isHalf(text, "89abAB") && isHalf(text[escapeLength:], "cdefCDEF")
}

// isHalf reports whether text starts with the escape of a surrogate with one of the second digits.
func isHalf(text []byte, second string) bool {
	return len(text) >= escapeLength && text[1] == 'u' && text[2]|0x20 == 'd' && strings.IndexByte(second, text[3]) >= 0 &&
		isHex(text[4]) && isHex(text[5]) && text[0] == '\\'
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// restoreSurrogates gives nodes of a text with hidden pairs the values that they have with them.
func restoreSurrogates(n *yaml.Node) {
	if n == nil {
		return
	}
	if n.Kind == yaml.ScalarNode {
		n.Value = restoreText(n.Value, n.Style&yaml.DoubleQuotedStyle != 0)
	}
	for _, text := range []*string{&n.HeadComment, &n.LineComment, &n.FootComment} {
		*text = restoreText(*text, false)
	}
	for _, c := range n.Content {
		restoreSurrogates(c)
	}
}

// restoreText joins the halves in a text whose escapes were read; in another, pairs are escapes as they were written.
func restoreText(s string, escapes bool) string {
	if !escapes {
		return hiddenPair().ReplaceAllStringFunc(s, func(pair string) string {
			b := []byte(pair)
			b[2]--
			b[8]--
			return string(b)
		})
	}
	runes, out := []rune(s), make([]rune, 0, len(s))
	for i := 0; i < len(runes); i++ {
		if i+1 < len(runes) && runes[i] >= firstHalf && runes[i] <= lastHalf {
			if r := utf16.DecodeRune(runes[i]-shiftHalf, runes[i+1]-shiftHalf); r != '\ufffd' {
				out = append(out, r)
				i++
				continue
			}
		}
		out = append(out, runes[i])
	}
	return string(out)
}

// loneSurrogate finds an escape that is half of a character, without the other half.
func loneSurrogate(lines []string) (line, offset int, escape string) {
	for n, text := range lines {
		data := []byte(text)
		for at := 0; ; at += pairLength {
			if at = nextHalf(data, at, func(b []byte) bool { return isHalf(b, "89abcdefABCDEF") }); at < 0 {
				break
			}
			if !isPair(data[at:]) {
				return n + 1, at, text[at : at+escapeLength]
			}
		}
	}
	return 0, 0, ""
}
