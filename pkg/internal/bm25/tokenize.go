package bm25

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// maxWord is the length of the longest word that is indexed, in bytes.
const maxWord = 48

// words calls yield with each word of a text, in lower case and without accents, until it returns false.
func words(text string, yield func(word string) bool) {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf && !isLetter(rune(c)) {
			i++
			continue
		}
		start, ascii := i, true
		for i < len(text) {
			if c := text[i]; c < utf8.RuneSelf {
				if !isLetter(rune(c)) {
					break
				}
				i++
				continue
			}
			r, size := utf8.DecodeRuneInString(text[i:])
			if !isLetter(r) && (i == start || !unicode.Is(unicode.Mn, r)) {
				break
			}
			ascii = false
			i += size
		}
		word := text[start:i]
		if word == "" {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		i += apostrophe(text[i:])
		if named, n := symbolName(text, start, i); n > 0 {
			word, ascii, i = named, true, i+n
		}
		if !emit(word, ascii, yield) {
			return
		}
	}
}

func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// apostrophe returns the length of a possessive ending at the start of a text.
func apostrophe(text string) int {
	if text == "" || text[0] != '\'' && text[0] < utf8.RuneSelf {
		return 0
	}
	for _, ending := range []string{"'s", "’s"} {
		if rest, ok := strings.CutPrefix(text, ending); ok {
			if r, _ := utf8.DecodeRuneInString(rest); !isLetter(r) {
				return len(ending)
			}
		}
	}
	return 0
}

// symbolName returns the word for a name with symbols, such as C++ and F#, and how many bytes of them follow the word
// that text has from start to end; 0 for none.
func symbolName(text string, start, end int) (word string, signs int) {
	if end-start != 1 {
		return "", 0
	}
	rest := text[end:]
	switch strings.ToLower(text[start:end]) {
	case "c":
		if strings.HasPrefix(rest, "++") {
			return "cpp", 2
		} else if strings.HasPrefix(rest, "#") {
			return "csharp", 1
		}
	case "f":
		if strings.HasPrefix(rest, "#") {
			return "fsharp", 1
		}
	}
	return "", 0
}

// emit folds a word, and cuts a word of a script without spaces into pairs of letters.
func emit(word string, ascii bool, yield func(string) bool) bool {
	if ascii {
		return len(word) > maxWord || yield(strings.ToLower(word))
	}
	word = fold(word)
	var last rune
	run := 0 // letters of an unspaced script that stand together
	start := 0
	for i, r := range word {
		if !unspaced(r) {
			if run == 1 && !yield(string(last)) {
				return false
			}
			run = 0
			continue
		}
		if run == 0 && start < i && !emitLatin(word[start:i], yield) {
			return false
		}
		if run > 0 && !yield(string([]rune{last, r})) {
			return false
		}
		run, last, start = run+1, r, i+utf8.RuneLen(r)
	}
	if run == 1 && !yield(string(last)) {
		return false
	}
	return start >= len(word) || emitLatin(word[start:], yield)
}

func emitLatin(word string, yield func(string) bool) bool {
	return word == "" || len(word) > maxWord || yield(word)
}

// fold returns the letters and digits of a word in lower case and in one form, without accents, and without signs that
// are part of a letter, such as the dot of ŀ.
func fold(word string) string {
	letters := strings.Map(func(r rune) rune {
		if !isLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(word))
	return norm.NFC.String(letters)
}

// unspaced reports whether a letter is of a script that is written without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// Stem returns the form of a word for comparisons: its English stem, where words that only differ in British or
// American spelling, or as verb and noun (verify, verification; analyze, analysis), have the same.
func Stem(word string) string { return stem(word) }

func stem(word string) string {
	for i := range len(word) {
		if c := word[i]; c < 'a' || c > 'z' {
			return word // names with digits, and other languages
		}
	}
	key := english.Stem(american(word), true)
	for _, pair := range [...][2]string{{"ifi", "if"}, {"ysi", "ys"}, {"yz", "ys"}} {
		if rest, ok := strings.CutSuffix(key, pair[0]); ok && len(rest) > 1 {
			return rest + pair[1]
		}
	}
	return key
}

// american returns a word with the American forms of the commonest British endings.
func american(word string) string {
	if len(word) < 6 {
		return word
	}
	for _, pair := range [...][2]string{
		{"isation", "ization"},
		{"isations", "ization"},
		{"ising", "izing"},
		{"ised", "ized"},
		{"ises", "izes"},
		{"ise", "ize"},
		{"our", "or"},
		{"ours", "ors"},
	} {
		rest, ok := strings.CutSuffix(word, pair[0])
		if ok && rest != "" &&
			(pair[0][0] == 'o' || !strings.ContainsRune("aocvw", rune(rest[len(rest)-1]))) { // raise, revise, wise
			return rest + pair[1]
		}
	}
	return word
}

// isStopWord reports whether a word is too common to distinguish documents.
func isStopWord(word string) bool { return len(word) < 2 && word < "0" || english.IsStopWord(word) }

// isRequestWord reports whether a word occurs in requests of any kind and so distinguishes none.
func isRequestWord(word string) bool { return slices.Contains(RequestWords(), word) }
