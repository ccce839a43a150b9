package syntax

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fail records an error at an offset. It returns false, so that callers can return it.
func (j *jsonScanner) fail(at int, format string, args ...any) bool {
	j.bad, j.message = at, fmt.Sprintf(format, args...)
	return false
}

// unexpected records an error about something that JSON does not allow: a placeholder, a comment, an unquoted word.
// want describes what JSON expects.
func (j *jsonScanner) unexpected(want string) bool {
	rest := j.text[j.pos:]
	if placeholder(j.text, j.pos) {
		j.template = true
		return false
	}
	r, _ := utf8.DecodeRune(rest)
	switch {
	case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("/*")), r == '#':
		return j.fail(j.pos, "JSON does not allow comments")
	case r == '\'', r == '`':
		return j.fail(j.pos, "%c is not a quotation mark in JSON: use \"", r)
	case strings.ContainsRune("“”„‟«»‘’‚", r):
		return j.fail(j.pos, "%c is a typographic quotation mark: write \"", r)
	}
	if word := wordAt(rest); word != "" {
		return j.fail(j.pos, "%s, but found %s without quotes", want, word)
	}
	return j.fail(j.pos, "%s, but found %s", want, printRune(r))
}

// printRune formats a character for a message.
func printRune(r rune) string {
	if r == utf8.RuneError || !unicode.IsPrint(r) {
		return fmt.Sprintf("U+%04X", r)
	}
	return string(r)
}

// wordAt returns the word at the start of text, shortened for a message.
func wordAt(text []byte) string {
	n := 0
	for n < 40 && isWord(text, n) {
		n++
	}
	return string(text[:n])
}

func (j *jsonScanner) noValue(c byte) bool {
	word := wordAt(j.text[j.pos:])
	if other := otherLiteral(word); other != "" {
		return j.fail(j.pos, "%s is not a JSON value: write %s", word, other)
	}
	inside := j.depth > 0
	switch {
	case inside && !j.inObject() && c == ']':
		return j.fail(j.comma, "unexpected comma after the last value")
	case c == ',', c == '}', c == ']':
		return j.fail(j.pos, "expected a value before %c", c)
	case c == '+' || c == '.' && j.digits(j.pos+1) > j.pos+1:
		return j.badNumber()
	}
	return j.unexpected("expected a value")
}

// otherLiteral returns the JSON form of another language's literal, or "".
func otherLiteral(word string) string {
	switch word {
	case "True", "TRUE":
		return "true"
	case "False", "FALSE":
		return "false"
	case "None", "nil", "NULL", "Null", "undefined":
		return "null"
	case "NaN", "Infinity":
		return "null or a string"
	}
	return ""
}

func (j *jsonScanner) noKey(c byte) bool {
	switch c {
	case '}':
		return j.fail(j.comma, "unexpected comma after the last value")
	case ',':
		return j.fail(j.pos, "expected a key before the comma")
	case ']':
		return j.mismatch(c)
	}
	return j.unexpected("expected a key")
}

func (j *jsonScanner) noColon() bool {
	if j.pos == len(j.text) {
		return j.unfinished()
	}
	if c := j.text[j.pos]; c == ',' || c == '}' {
		return j.fail(j.pos, "expected a colon and a value after the key")
	}
	return j.unexpected("expected a colon")
}

func (j *jsonScanner) noComma(c byte) bool {
	switch {
	case c == '}', c == ']':
		return j.mismatch(c)
	case c == ':':
		return j.fail(j.pos, "unexpected colon after a value: in JSON, a colon follows only a key in { }")
	case placeholder(j.text, j.pos):
		j.template = true
		return false
	case c == '"', c == '{', c == '[', isWord(j.text, j.pos):
		return j.fail(j.pos, "expected a comma before the next value or key")
	}
	return j.unexpected("expected a comma")
}

// surplus records an error about content after the document.
func (j *jsonScanner) surplus() bool {
	switch c := j.text[j.pos]; c {
	case '}', ']':
		return j.fail(j.pos, "%c does not have an opening bracket", c)
	case '"', '{', '[':
		if placeholder(j.text, j.pos) {
			j.template = true
			return false
		}
		return j.fail(j.pos, "unexpected second document: use the extension .jsonl for one document per line")
	}
	return j.unexpected("expected the end of the file")
}

// opened returns the offset of the innermost open bracket.
func (j *jsonScanner) opened() int {
	var open []int
	quoted := false
	for i := j.start(); i < j.pos; i++ {
		switch c := j.text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			open = append(open, i)
		case len(open) > 0 && (c == '}' || c == ']'):
			open = open[:len(open)-1]
		case j.lenient && c == '/':
			i = max(i, j.comment(i)-1)
		}
	}
	if len(open) == 0 {
		return j.start()
	}
	return open[len(open)-1]
}

// start returns the offset of the document: of the file, or of the line in a file of lines.
func (j *jsonScanner) start() int {
	if len(j.text) < len(j.content) {
		return bytes.LastIndexByte(j.text, '\n') + 1
	}
	return 0
}

func (j *jsonScanner) mismatch(c byte) bool {
	at := j.opened()
	p := problem(j.content, at, "")
	return j.fail(j.pos, "%c cannot close the %c of line %d", c, j.text[at], p.Line)
}

// unfinished records an error about a text that ends too early.
func (j *jsonScanner) unfinished() bool {
	if j.depth == 0 {
		return j.fail(j.pos, "expected a value, but the file ends")
	}
	at := j.opened()
	return j.fail(at, "this %c is not closed", j.text[at])
}

func (j *jsonScanner) notClosed() bool {
	return j.fail(j.pos, "the string that starts here is not closed")
}

func (j *jsonScanner) badControl(at int) bool {
	switch c := j.text[at]; c {
	case '\n', '\r':
		return j.fail(j.pos, "the string that starts here is not closed on its line")
	case '\t':
		return j.fail(at, `unexpected tab in a string: write \t`)
	default:
		return j.fail(at, `unexpected control character in a string: write \u%04x`, c)
	}
}

func (j *jsonScanner) badEscape(at int) bool {
	rest := j.text[at+1:]
	r, _ := utf8.DecodeRune(rest)
	switch {
	case len(rest) == 0, r == '\n', r == '\r':
		return j.fail(j.pos, "the string that starts here is not closed on its line")
	case r == 'u':
		return j.fail(at, `expected four hexadecimal digits after \u`)
	}
	return j.fail(at, `\%s is not an escape sequence in JSON: use \\ for a backslash`, printRune(r))
}

func (j *jsonScanner) badNumber() bool {
	end := j.pos
	for end < len(j.text) && (isWord(j.text, end) || strings.IndexByte("+-.", j.text[end]) >= 0) {
		end++
	}
	number := string(j.text[j.pos:min(end, j.pos+40)])
	digits := strings.TrimLeft(number, "+-")
	switch {
	case number[0] == '+':
		return j.fail(j.pos, "%s has a plus sign, which JSON does not allow", number)
	case digits == "" || digits == "Infinity":
		return j.fail(j.pos, "%s is not a number", number)
	case digits[0] == '.', strings.HasSuffix(digits, "."):
		return j.fail(j.pos, "%s needs a digit on both sides of its decimal point", number)
	case len(digits) > 1 && digits[0] == '0' && digits[1]-'0' <= 9:
		return j.fail(j.pos, "%s has a leading zero", number)
	}
	return j.fail(j.pos, "%s is not a JSON number", number)
}
