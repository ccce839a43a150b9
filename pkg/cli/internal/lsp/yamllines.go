package lsp

import (
	"slices"
	"strconv"
	"strings"
)

// yamlLines is YAML analyzed by lines and indentation: enough to know in which field of which mapping a line is, in a
// document that is not valid yet. It does not look inside of flow style, such as {a: b}.
type yamlLines struct {
	lines       []string
	first       int // the number of the first line in its file, from 0
	entries     []yamlEntry
	entryByLine []int // by line: the entry that it starts, -2-entry if it continues one, or none
}

// none is for a line without an entry.
const none = -1

// yamlEntry is a line of a mapping or a list: a key with the rest of its line, or an item.
type yamlEntry struct {
	path  []string // keys, and the numbers of items
	line  int      // in the outline
	key   string   // "" for an item that is not a mapping
	start int      // where the key starts in the line, or the item's text
	end   int      // where it ends
	value int      // where the value starts, the end of the line if there is none; start for an item
	colon bool     // a colon follows the key
	item  bool     // a dash stands before it
	open  []openLevel
}

// openLevel is an open mapping or list above a line.
type openLevel struct {
	column int
	step   string
	dash   bool
	index  int
}

func newYAMLLines(lines []string, first int) *yamlLines {
	o := &yamlLines{lines: lines, first: first, entryByLine: make([]int, len(lines))}
	var open []openLevel
	block := none // the column of the key whose block scalar or continued text the lines belong to
	for n, line := range lines {
		o.entryByLine[n] = none
		trimmed := strings.TrimLeft(line, " ")
		column := len(line) - len(trimmed)
		switch {
		case strings.TrimSpace(line) == "" || block < 0 && trimmed[0] == '#':
			continue
		case block >= 0 && column > block:
			o.entryByLine[n] = -2 - (len(o.entries) - 1)
			continue
		case trimmed[0] == '#':
			continue
		}
		open = o.readEntry(n, column, open)
		e := &o.entries[len(o.entries)-1]
		o.entryByLine[n] = len(o.entries) - 1
		block = none
		if isText(strings.TrimSpace(line[e.value:])) || e.key == "" {
			block = open[len(open)-1].column
		}
	}
	return o
}

// isText reports whether a value is text, so that deeper lines below its key belong to it.
func isText(value string) bool {
	return value != "" && value[0] != '#' && value[0] != '&' && value[0] != '!'
}

// readEntry parses a line that starts an entry, and returns the levels that are open after it.
func (o *yamlLines) readEntry(n, column int, open []openLevel) []openLevel {
	line := o.lines[n]
	item := false
	for range maxLevels {
		if !strings.HasPrefix(line[column:], "- ") && line[column:] != "-" {
			break
		}
		open = push(open, openLevel{column: column, dash: true})
		item = true
		column++
		column += len(line[column:]) - len(strings.TrimLeft(line[column:], " "))
	}
	e := yamlEntry{line: n, start: column, end: len(strings.TrimRight(line, " \t")), value: column, item: item}
	e.end = max(e.end, e.start)
	if key, size, ok := cutKey(line[column:]); ok {
		e.key, e.end, e.colon = key, column+size, true
		rest := line[e.end+1:]
		e.value = len(line) - len(strings.TrimLeft(rest, " "))
		open = push(open, openLevel{column: column, step: key})
	} else if !item {
		open = push(open, openLevel{column: column, step: strings.TrimSpace(line[column:])}) // a key without its colon
		e.key, e.value = open[len(open)-1].step, len(line)
	}
	e.open, e.path = open, steps(open)
	o.entries = append(o.entries, e)
	return open
}

// maxLevels bounds the depth of levels, far beyond real documents.
const maxLevels = 64

// push opens a level after closing those that it ends.
func push(open []openLevel, l openLevel) []openLevel {
	open, l.index = closeLevels(open, l)
	if l.dash {
		l.step = strconv.Itoa(l.index)
	}
	return append(slices.Clip(open[:min(len(open), maxLevels-1)]), l)
}

// closeLevels returns the levels that stay open when another one starts, and the number of an item there.
func closeLevels(open []openLevel, l openLevel) (_ []openLevel, index int) {
	for len(open) > 0 {
		top := open[len(open)-1]
		if top.column < l.column || top.column == l.column && l.dash && !top.dash {
			break
		}
		if top.dash && l.dash && top.column == l.column {
			index = top.index + 1
		}
		open = open[:len(open)-1]
	}
	return open, index
}

// cutKey returns the key at the start of a line and its size in the file, if a colon follows it.
func cutKey(s string) (key string, size int, ok bool) {
	if s == "" || strings.ContainsRune("[{#&*!|>%@`,]}", rune(s[0])) {
		return "", 0, false
	}
	if q := s[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[1:], q)
		if end < 0 || !strings.HasPrefix(s[end+2:], ":") {
			return "", 0, false
		}
		return s[1 : end+1], end + 2, true
	}
	for i := 0; i < len(s); i++ {
		if s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t') {
			return strings.TrimSpace(s[:i]), i, true
		}
		if s[i] == '#' && i > 0 && s[i-1] == ' ' {
			break
		}
	}
	return "", 0, false
}

// entryAt returns the entry that a line starts or continues, or nil; starts distinguishes the two.
func (o *yamlLines) entryAt(n int) (e *yamlEntry, starts bool) {
	if n < 0 || n >= len(o.entryByLine) || o.entryByLine[n] == none {
		return nil, false
	}
	if o.entryByLine[n] < 0 {
		return &o.entries[-2-o.entryByLine[n]], false
	}
	return &o.entries[o.entryByLine[n]], true
}

// pathBelow returns the path that would start in a column of a line: of the mapping for a key there, or of the item if
// a dash is there.
func (o *yamlLines) pathBelow(n, column int, dash bool) []string {
	var open []openLevel
	for n--; n >= 0; n-- {
		if e, starts := o.entryAt(n); starts {
			open = e.open
			break
		}
	}
	l := openLevel{column: column, dash: dash}
	if !dash {
		open, _ = closeLevels(open, l)
		return steps(open)
	}
	return steps(push(open, l))
}

func steps(open []openLevel) []string {
	path := make([]string, len(open))
	for i, l := range open {
		path[i] = l.step
	}
	return path
}

// keys returns the keys of a mapping, except that of one line.
func (o *yamlLines) keys(path []string, but int) []string {
	var keys []string
	for i := range o.entries {
		e := &o.entries[i]
		if n := len(e.path) - 1; e.line != but && e.colon && n == len(path) && slices.Equal(e.path[:n], path) {
			keys = append(keys, e.key)
		}
	}
	return keys
}

// values returns the values at paths that match a pattern, in which * is any one step.
func (o *yamlLines) values(pattern string, but int) []string {
	var values []string
	for i := range o.entries {
		e := &o.entries[i]
		if e.line != but && matchPath(pattern, e.path) {
			values = append(values, e.text(o.lines[e.line]))
		}
	}
	return values
}

// matchPath reports whether a path matches a pattern, in which * is any one step.
func matchPath(pattern string, path []string) bool {
	return slices.EqualFunc(strings.Split(pattern, "/"), path, func(w, s string) bool { return w == "*" || w == s })
}

// text returns the value without quotes and comment.
func (e *yamlEntry) text(line string) string {
	start, end := e.span(line)
	return line[start:end]
}

// span returns the range of the value's text in the line, without quotes and comment.
func (e *yamlEntry) span(line string) (start, end int) {
	start = min(e.value, len(line))
	rest := line[start:]
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		if i := strings.IndexByte(rest[1:], rest[0]); i >= 0 {
			return start + 1, start + 1 + i
		}
		return start + 1, len(strings.TrimRight(line, " \t"))
	}
	if i := strings.Index(" "+rest, " #"); i >= 0 {
		rest = rest[:max(i-1, 0)]
	}
	return start, start + len(strings.TrimRight(rest, " \t"))
}
