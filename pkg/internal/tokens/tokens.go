// Package tokens estimates how many tokens a model reads of a text.
//
// Every model has its own tokenizer, and those of some agents are not public. The estimate follows what tokenizers have
// in common: they split a text into words, numbers, punctuation, and white space, and most of these are one token. Its
// weights are those for which the estimate is nearest to the mean of three tokenizers (docs/adr/0050-token-estimate.md).
package tokens

import (
	"unicode"
	"unicode/utf8"
)

// Weights, in hundredths of a token.
const (
	word        = 100 // a word of ASCII letters; parts of CamelCase are words
	longWord    = 5   // each letter beyond shortWord
	shortWord   = 7
	capitals    = 110 // a run of capital letters
	longRun     = 30  // each letter beyond shortRun
	shortRun    = 3
	digits      = 150 // each group of up to three digits
	group       = 3
	spaces      = 35 // several spaces; a single one belongs to the next word
	lines       = 87 // a run of line breaks and tabs
	punctuation = 108
	longMarks   = 13 // each mark beyond shortMarks
	shortMarks  = 2
	ideograph   = 75
	letter      = 42 // of another script
	symbol      = 90
	unit        = 100
)

// Estimate returns the number of tokens of a text, 0 only for one without text.
func Estimate[T ~string | ~[]byte](text T) int {
	sum := 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case isUpper(c):
			n := run(text[i:], isUpper)
			if i+n < len(text) && isLower(text[i+n]) { // the last one starts a word
				n--
			}
			if n > 0 {
				sum += acronym(n)
				i += n
				continue
			}
			n = 1 + run(text[i+1:], isLower)
			sum += wordOf(n)
			i += n
		case isLower(c):
			n := run(text[i:], isLower)
			sum += wordOf(n)
			i += n
		case isDigit(c):
			n := run(text[i:], isDigit)
			sum += digits * ((n + group - 1) / group)
			i += n
		case c == ' ':
			n := run(text[i:], func(c byte) bool { return c == ' ' })
			if n > 1 {
				sum += spaces
			}
			i += n
		case c < ' ':
			sum += lines
			i += run(text[i:], func(c byte) bool { return c < ' ' })
		case c < utf8.RuneSelf:
			n := run(text[i:], isMark)
			sum += punctuation + longMarks*max(0, n-shortMarks)
			i += n
		default:
			r, n := utf8.DecodeRuneInString(string(text[i:min(len(text), i+utf8.UTFMax)]))
			sum += other(r)
			i += n
		}
	}
	if sum == 0 {
		return 0
	}
	return max(1, (sum+unit/2)/unit)
}

func wordOf(letters int) int { return word + longWord*max(0, letters-shortWord) }

func acronym(letters int) int {
	if letters == 1 {
		return word
	}
	return capitals + longRun*max(0, letters-shortRun)
}

// other returns the weight of a character outside of ASCII.
func other(r rune) int {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= '\u3000' && r <= '\u303f':
		return ideograph
	case unicode.IsLetter(r):
		return letter
	default:
		return symbol
	}
}

// run returns how many of the first bytes of a text are of a class.
func run[T ~string | ~[]byte](text T, is func(byte) bool) int {
	n := 0
	for n < len(text) && is(text[n]) {
		n++
	}
	return n
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isMark reports whether a byte is punctuation of ASCII.
func isMark(c byte) bool {
	return ' ' < c && c < utf8.RuneSelf && !isUpper(c) && !isLower(c) && !isDigit(c)
}
