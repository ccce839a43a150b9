// Package textx has the small text functions that messages, pages, and file names need everywhere: counts, lists,
// truncation, and digests as text. A function belongs here if two rooms need it and it knows nothing of skillpm.
//
// This package may change at any time.
package textx

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Count returns a number with the noun that it counts: "1 skill", "3 skills".
func Count[N int | int64](n N, noun string) string { return CountOf(n, noun, noun+"s") }

// CountOf is [Count] for nouns with an irregular plural: "1 entry", "2 entries".
func CountOf[N int | int64](n N, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return strconv.FormatInt(int64(n), 10) + " " + plural
}

// Thousands returns a number with commas: "1,234,567".
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// And joins words as a sentence does: "a", "a and b", "a, b, and c".
func And(words []string) string { return joinWords(words, "and") }

// Or is [And] for alternatives.
func Or(words []string) string { return joinWords(words, "or") }

// OneOf is [Or] for the words that a user can choose from: "a", "a or b", "one of a, b, or c".
func OneOf(words []string) string {
	if len(words) > 2 {
		return "one of " + Or(words)
	}
	return Or(words)
}

func joinWords(words []string, last string) string {
	switch n := len(words); n {
	case 0, 1:
		return strings.Join(words, "")
	case 2:
		return words[0] + " " + last + " " + words[1]
	default:
		return strings.Join(words[:n-1], ", ") + ", " + last + " " + words[n-1]
	}
}

// FirstAndMore joins the first words and counts the others: "a, b and 3 more".
func FirstAndMore(words []string, limit int) string {
	if more := len(words) - limit; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:limit], ", "), more)
	}
	return strings.Join(words, ", ")
}

// First joins the first words: "a, b, …".
func First(words []string, limit int) string {
	if len(words) > limit {
		return strings.Join(words[:limit], ", ") + ", …"
	}
	return strings.Join(words, ", ")
}

// OneLine returns a text as valid UTF-8 on one line, with a single space wherever it had white space.
func OneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
}

// Prefix returns the longest beginning of a text that has at most limit bytes and does not split a character.
func Prefix(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Truncate is [Prefix] with an ellipsis behind a text that it shortens. The ellipsis does not count.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Prefix(s, limit) + "…"
}

// TruncateRunes shortens a text to limit characters, of which the last is an ellipsis.
func TruncateRunes(s string, limit int) string {
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}

// Position returns "file:line", or the file alone if the line is 0.
func Position(file string, line int) string {
	if line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

// SHA256 returns the SHA-256 of data as 64 hexadecimal digits.
func SHA256[D []byte | string](data D) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}
