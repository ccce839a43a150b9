package pack

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var yamlError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`) })

// trap is a value that means something to YAML unless it is quoted. What may follow > or | in YAML is none.
var trap = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*(?:- *)?(?:"[^"]*"|'[^']*'|[^\s:#"']+)\s*:\s+|\s*-\s+)` +
		`([>|][-+0-9]*\s*[^-+0-9\s#][^\s#]*|[*&!%@` + "`" + `][^\s#]*)`)
})

// syntax turns the YAML library's message into an error with a place, and recognises values that lack quotes.
func (r reader) syntax(data []byte, err error) *fault {
	message, line := err.Error(), 0
	if m := yamlError().FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	lines := strings.Split(string(data), "\n")
	for _, at := range []int{line, line - 1, line + 1} {
		if at < 1 || at > len(lines) {
			continue
		}
		text := strings.TrimRight(lines[at-1], "\r ")
		if m := trap().FindStringSubmatchIndex(text); m != nil {
			n := &yaml.Node{Line: at, Column: len([]rune(text[:m[4]])) + 1}
			return r.errorf(n, "%s starts with a character that YAML keeps for itself", text[m[4]:m[5]]).
				WithHint("write it in quotes: %s%s", strings.TrimSpace(text[:m[4]])+" ", strconv.Quote(text[m[4]:]))
		}
	}
	f := r.errorf(&yaml.Node{Line: line}, "not valid YAML: %s", message)
	if r.notes != nil {
		b := explain(message, lines, max(1, min(line, len(lines))))
		f = f.WithHint("%s", b.hint)
		f.line, f.column, f.plainly = b.line, b.column, b.message
	}
	return f
}

// blame is where YAML cannot go on, and how to say it.
type blame struct {
	line, column  int // from 1
	message, hint string
}

const quoteIt = "put the value in double quotes"

// explain turns the YAML library's message about a text into one for its author. The library knows the line more or
// less and no column; what is to blame is looked for.
func explain(message string, lines []string, line int) blame {
	at := func(line, offset int, message, hint string) blame {
		text := lines[line-1]
		if offset < 0 {
			offset = indentOf(text)
		}
		return blame{line, utf8.RuneCountInString(text[:offset]) + 1, message, hint}
	}
	is := func(part string) bool { return strings.Contains(message, part) }
	if n, i := badByte(lines); n > 0 && (is("control characters") || is("UTF-8")) {
		return at(n, i, "a byte that is no text", "save the file as UTF-8, without control characters")
	}
	if n, i := leadingTab(lines); n > 0 && (is("cannot start any token") || is("tab character") || n >= line-1 && n <= line+1) {
		return at(n, i, "a tab is used for indentation, which YAML forbids", "indent with spaces")
	}
	switch {
	case is("mapping values are not allowed"):
		if n, i := secondColon(lines, line); n > 0 {
			return at(n, i, "a colon and a space inside a value that is not quoted", quoteIt)
		}
		if n := noColon(lines[:line-1]); n > 0 {
			return at(n, -1, "this line has no colon and a space after its key", "write key: value")
		}
	case is("unexpected end of stream"):
		if n, i := openQuote(lines); n > 0 {
			return at(n, i, "the quoted value has no closing quote", "close the quote")
		}
	case is("unknown escape"):
		return at(line, strings.IndexByte(lines[line-1], '\\'), "an unknown escape in a double-quoted value",
			`write \\ for a backslash, or use single quotes`)
	case is("',' or ']'"), is("',' or '}'"):
		if n, i := openBracket(lines); n > 0 {
			return at(n, i, lines[n-1][i:i+1]+" opens a list or mapping that is not well formed",
				"close it, put commas between its entries, or quote a value that starts with a bracket")
		}
	case is("unknown anchor"):
		if n, i := find(lines, "*"); n > 0 {
			return at(n, i, "* starts a reference in YAML", quoteIt)
		}
	case is("block sequence entries"):
		if n, i := find(lines, ": - "); n > 0 {
			return at(n, i+2, "a list starts on the line of its key", "write each entry on a line of its own below the key, or [a, b]")
		}
	case is("expected '-'"):
		if n := notAnItem(lines); n > 0 {
			return at(n, -1, "this line is no entry of the list above it", "start it with a hyphen, or indent it less")
		}
	case is("expected ':'"):
		if n := noColon(lines); n > 0 {
			return at(n, -1, "this line is not a key followed by a colon",
				"write key: value, or indent the line if it continues the value above")
		}
	case is("expected key"):
		if n, i := afterQuote(lines); n > 0 {
			return at(n, i, "text after the closing quote of a value",
				"write a single quote inside single quotes twice, and a double quote inside double quotes as \\\"")
		}
	}
	if n := badIndent(lines); n > 0 {
		return at(n, -1, "the indentation of this line fits none of those above it", "indent the entries of one mapping or list alike")
	}
	return at(line, -1, "invalid YAML: "+message, "look at the indentation and the quotes of this line")
}

// salvage notes what is wrong with each of the top-level entries that YAML cannot read by themselves, and returns the
// text with blank lines in their place; nil where that does not help.
func (r reader) salvage(data []byte) ([]byte, error) {
	const most = 1000
	parts := topLevel(string(data))
	if len(parts) < 2 || len(parts) > most {
		return nil, nil
	}
	var rest strings.Builder
	before := r.noted()
	for _, p := range parts {
		var n yaml.Node
		err := yaml.Unmarshal([]byte(p.text), &n)
		if err == nil && len(n.Content) > 0 && n.Content[0].Kind != yaml.MappingNode {
			err = errNoColon
		}
		if err == nil {
			rest.WriteString(p.text)
			continue
		}
		rest.WriteString(strings.Repeat("\n", strings.Count(p.text, "\n")))
		f := r.syntax([]byte(p.text), err)
		f.line += p.line - 1
		if err := r.note(f); err != nil {
			return nil, err
		}
	}
	if r.noted() == before {
		return nil, nil
	}
	return []byte(rest.String()), nil
}

// part is a top-level entry and the line that it starts on.
type part struct {
	text string
	line int
}

// topLevel cuts YAML text into its top-level entries: a line that starts in the first column starts one, unless it is a
// comment, a list's entry or a closing bracket. Text of several documents is not cut.
func topLevel(text string) []part {
	if strings.Contains(text, "\n---") {
		return nil
	}
	var parts []part
	start, first, at, n := 0, 1, 0, 0
	for line := range strings.Lines(text) {
		n++
		if at > start && !strings.ContainsRune(" \t\r\n#-]}", rune(line[0])) {
			parts = append(parts, part{text[start:at], first})
			start, first = at, n
		}
		at += len(line)
	}
	return append(parts, part{text[start:], first})
}
