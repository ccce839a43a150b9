package yamlx

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var libraryError = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)
})

// ErrorLine returns the line of an error of the YAML library, or 0 if unknown, and its message.
func ErrorLine(err error) (line int, message string) {
	m := libraryError().FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// reservedStart matches a value that YAML reads as text only if it is quoted. It ignores the valid indicators after >
// or |.
var reservedStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*(?:- *)?(?:"[^"]*"|'[^']*'|[^\s:#"']+)\s*:\s+|\s*-\s+)` +
		`([>|][-+0-9]*\s*[^-+0-9\s#][^\s#]*|[*&!%@` + "`" + `][^\s#]*)`)
})

// notYAML records an error of the YAML library with a position, and returns it. It recognizes values that lack quotes.
func (r *Reader) notYAML(data []byte, err error) *Error {
	e, p := r.syntaxError(data, err, 0)
	r.add(e, p)
	return e
}

// syntaxError returns an error of the YAML library in text that starts after a number of lines, and its explanation.
func (r *Reader) syntaxError(data []byte, err error, above int) (*Error, Problem) {
	line, message := ErrorLine(err)
	if r.format.Explain != nil {
		p := Problem{Message: Message(err)}
		if found := r.format.Explain(r.path, data); found != nil {
			p = *found
		}
		p.Message = "invalid YAML: " + p.Message
		return &Error{Path: r.path, Problem: p}, p
	}
	lines := strings.Split(string(data), "\n")
	for _, at := range []int{line, line - 1, line + 1} {
		if at < 1 || at > len(lines) {
			continue
		}
		text := strings.TrimRight(lines[at-1], "\r ")
		if m := reservedStart().FindStringSubmatchIndex(text); m != nil {
			n := &yaml.Node{Line: at + above, Column: len([]rune(text[:m[4]])) + 1}
			hint := "write the value in quotes: " + strings.TrimSpace(text[:m[4]]) + " " + strconv.Quote(text[m[4]:])
			e := r.value(n).NewError(hint, "%s starts with a character that YAML reserves", text[m[4]:m[5]])
			return e, e.Problem
		}
	}
	e := r.value(&yaml.Node{Line: line}).NewError("", "invalid YAML: %s", message)
	p := Explain(message, lines, max(1, min(line, len(lines))))
	p.Line += above
	return e, p
}

const quoteIt = "use double quotes around the value"

// TabIndent is the message about a tab that is used for indentation.
const TabIndent = "YAML does not allow tabs for indentation"

// Explain converts the YAML library's message about some lines into one for users. The library reports an approximate
// line and no column; the cause is located heuristically.
func Explain(message string, lines []string, line int) Problem {
	at := func(line, offset int, message, hint string) Problem {
		text := lines[line-1]
		if offset < 0 {
			offset = indentOf(text)
		}
		return Problem{line, utf8.RuneCountInString(text[:offset]) + 1, message, hint}
	}
	is := func(part string) bool { return strings.Contains(message, part) }
	if n, i := badByte(lines); n > 0 && (is("control characters") || is("UTF-8")) {
		return at(n, i, "this line contains a byte that is not text",
			"save the file as UTF-8, without control characters")
	}
	if n, i := leadingTab(lines); n > 0 &&
		(is("cannot start any token") || is("tab character") || n >= line-1 && n <= line+1) {
		return at(n, i, TabIndent, "indent with spaces")
	}
	if n := conflictMarker(lines); n > 0 {
		return at(n, 0, "unresolved merge conflict",
			"choose one side, and remove the lines <<<<<<<, =======, and >>>>>>>")
	}
	switch {
	case is("mapping values are not allowed"):
		if n, i := colonBelow(lines); n > 0 {
			return at(n, i, "a value without quotes contains a colon and a space", quoteIt)
		}
		if n, i := secondColon(lines, line); n > 0 {
			return at(n, i, "a value without quotes contains a colon and a space", quoteIt)
		}
		if n := noColon(lines[:line-1]); n > 0 {
			return at(n, -1, "expected a colon and a space after the key of this line", "use the form key: value")
		}
	case is("cannot start any token"), is("alphabetic or numeric"), is("unknown anchor"):
		if n, i := bullet(lines); n > 0 {
			return at(n, i, "in YAML, the entries of a list start with -, not with *", "write - instead of *")
		}
		if n, i := badStart(lines, line); n > 0 {
			return at(n, i, fmt.Sprintf("a value without quotes cannot start with %c", lines[n-1][i]), quoteIt)
		}
	case is("comment or line break"):
		if n, i := textAfterIndicator(lines); n > 0 {
			return at(n, i, "unexpected text after "+lines[n-1][i:i+1]+", whose text starts on the next line",
				"start the text on the next line, or use double quotes around it")
		}
	case is("unexpected end of stream"):
		if n, i := openQuote(lines); n > 0 {
			return at(n, i, "the closing quote of the value is missing", "add the closing quote")
		}
	case is("Unicode character escape code"):
		if n, i, escape := loneSurrogate(lines); n > 0 {
			return at(n, i, escape+" is half of a character, and the other half is missing",
				"write the character itself, or both halves")
		}
	case is("unknown escape"), is("hexdecimal"):
		if n, i := badEscape(lines); n > 0 {
			return at(n, i, "unknown escape sequence in a double-quoted value",
				`write \\ for a backslash, or use single quotes`)
		}
	case is("',' or ']'"), is("',' or '}'"):
		if n, i := openBracket(lines); n > 0 {
			return at(n, i, lines[n-1][i:i+1]+" opens a list or mapping that is malformed",
				"close the bracket, put commas between its entries, or quote a value that starts with a bracket")
		}
	case is("block sequence entries"):
		if n, i := findText(lines, ": - "); n > 0 {
			return at(n, i+2, "a list cannot start on the line of its key",
				"write each entry on its own line below the key, or use [a, b]")
		}
	case is("expected '-'"):
		if n := notAnItem(lines); n > 0 {
			return at(n, -1, "expected an entry of the list above",
				"start the line with a hyphen, or indent the line less")
		}
	case is("expected ':'"):
		if n := noColon(lines); n > 0 {
			return at(n, -1, "expected a key followed by a colon",
				"use the form key: value, or indent the line if it continues the value above")
		}
	case is("expected key"):
		switch n, i, closing := afterClosing(lines); closing {
		case "quote":
			return at(n, i, "unexpected text after the closing quote of a value",
				"write '' for a single quote inside single quotes, and \\\" for a double quote inside double quotes")
		case "bracket":
			return at(n, i, "unexpected text after the closing bracket of a value", quoteIt)
		}
	}
	if n := badIndent(lines); n > 0 {
		return at(n, -1, "the indentation of this line does not match any line above it",
			"indent all entries of a mapping or list equally")
	}
	return at(line, -1, "invalid YAML: "+message, "check the indentation and the quotes of this line")
}

// salvage reads the valid part of an invalid text. It records the problems of each root entry that is invalid on its
// own, and returns the others.
func (r *Reader) salvage(data []byte, refused error) (*yaml.Node, bool) {
	const most = 1000
	var rest strings.Builder
	var entries []topLevelEntry
	if r.format.Salvage {
		entries = splitTopLevel(string(data))
	}
	if len(entries) > most {
		entries = nil
	}
	for _, part := range entries {
		n, err := Parse([]byte(part.text))
		if err == nil && n != nil && n.Kind != yaml.MappingNode {
			err = errNoColon
		}
		if err == nil {
			rest.WriteString(part.text)
			continue
		}
		rest.WriteString(strings.Repeat("\n", strings.Count(part.text, "\n")))
		if len(entries) > 1 {
			r.add(r.syntaxError([]byte(part.text), err, part.line-1))
		}
	}
	if len(r.reports) == 0 {
		r.syntax = r.notYAML(data, refused)
		return nil, false
	}
	r.syntax, _ = r.syntaxError(data, refused, 0)
	root, err := Parse([]byte(rest.String()))
	return root, err == nil && root != nil
}

// topLevelEntry is an entry of the root and its first line.
type topLevelEntry struct {
	text string
	line int
}

// splitTopLevel splits YAML text into its top-level entries. A line that starts in the first column starts an entry,
// unless it is a comment, a list's entry or a closing bracket. It does not split several documents.
func splitTopLevel(text string) []topLevelEntry {
	if strings.Contains(text, "\n---") {
		return nil
	}
	var parts []topLevelEntry
	start, first, at, n := 0, 1, 0, 0
	for line := range strings.Lines(text) {
		n++
		if at > start && !strings.ContainsRune(" \t\r\n#-]}", rune(line[0])) {
			parts = append(parts, topLevelEntry{text[start:at], first})
			start, first = at, n
		}
		at += len(line)
	}
	return append(parts, topLevelEntry{text[start:], first})
}
