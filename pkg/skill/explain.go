package skill

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// errNoColon is what a line without a key says about itself.
var errNoColon = errors.New("yaml: could not find expected ':'")

// blame is where in a field a YAML error is, and how to say it.
type blame struct {
	kind         Kind
	line, column int // in the field, from 1
	message, fix string
}

const quoteIt = "put the value in double quotes"

// explain turns the YAML library's message about a field into one for its author. The library knows the line more or
// less and no column; the column is looked for.
func explain(message string, lines []string, line int) blame {
	at := func(kind Kind, line, offset int, message, fix string) blame {
		text := lines[line-1]
		if offset < 0 {
			offset = len(text) - len(strings.TrimLeft(text, " \t"))
		}
		return blame{kind, line, utf8.RuneCountInString(text[:offset]) + 1, message, fix}
	}
	if n, i := indentTab(lines); n > 0 {
		return at(Tab, n, i, "a tab is used for indentation, which YAML forbids", "indent with spaces")
	}
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		n, i := secondColon(lines, line)
		return at(BadYAML, n, i, "a colon and a space inside a value that is not quoted", quoteIt)
	case strings.Contains(message, "cannot start any token"):
		n, i := badStart(lines, line)
		return at(BadYAML, n, i, "a value cannot start with this character unless it is quoted", quoteIt)
	case strings.Contains(message, "end of stream"):
		return at(BadYAML, 1, openQuote(lines[0]), "the quoted value has no closing quote", "close the quote")
	case strings.Contains(message, "unknown escape"):
		return at(BadYAML, line, strings.IndexByte(lines[line-1], '\\'), "an unknown escape in a double-quoted value",
			`write \\ for a backslash, or use single quotes`)
	case strings.Contains(message, "',' or ']'"):
		return at(BadYAML, 1, strings.IndexByte(lines[0], '['), "the list that starts with [ is not well formed",
			"close it with ], separate its items with commas, or quote a value that starts with [")
	case strings.Contains(message, "',' or '}'"):
		return at(BadYAML, 1, strings.IndexByte(lines[0], '{'), "the mapping that starts with { is not well formed",
			"close it with }, or quote a value that starts with {")
	case strings.Contains(message, "expected ':'"):
		return at(BadYAML, line, -1, "this line is not a field: it has no key followed by a colon",
			"write key: value, or indent the line if it continues the value above")
	case strings.Contains(message, "unknown anchor"):
		return at(BadYAML, line, strings.IndexByte(lines[line-1], '*'), "* starts a reference in YAML: "+message, quoteIt)
	}
	return at(BadYAML, line, -1, "invalid YAML: "+message, "look at the indentation and quotes of this field")
}

// indentTab returns the line and offset of the first tab among a line's leading space, from 1, or 0.
func indentTab(lines []string) (line, offset int) {
	for n, text := range lines {
		lead := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		if i := strings.IndexByte(lead, '\t'); i >= 0 && len(lead) < len(strings.TrimRight(text, "\r")) {
			return n + 1, i
		}
	}
	return 0, 0
}

// secondColon finds the colon that a plain value must not hold, on the given line or the one before it.
func secondColon(lines []string, line int) (n, offset int) {
	for n := line; n >= max(1, line-1); n-- {
		text := lines[n-1]
		first := strings.Index(text, ": ")
		if first < 0 {
			continue
		}
		rest := strings.TrimRight(text[first+2:], " \t\r")
		if i := strings.Index(rest, ": "); i >= 0 {
			return n, first + 2 + i
		}
		if strings.HasSuffix(rest, ":") {
			return n, first + 1 + len(rest)
		}
	}
	return line, -1
}

// badStart finds a value that starts with a character that YAML reserves.
func badStart(lines []string, line int) (n, offset int) {
	for n := line; n >= max(1, line-1); n-- {
		text := lines[n-1]
		value := text
		if _, after, ok := strings.Cut(text, ":"); ok {
			value = after
		}
		value = strings.TrimLeft(value, " \t-")
		if value != "" && strings.ContainsRune("@`%", rune(value[0])) {
			return n, len(text) - len(value)
		}
	}
	return line, -1
}

// openQuote returns the offset of the first quote in a line, or -1.
func openQuote(line string) int { return strings.IndexAny(line, `"'`) }
