package lsp

import (
	"slices"
	"strconv"
	"strings"
)

// outline is YAML as far as lines and indentation tell: enough to say in which field of which mapping a line is, in a
// document that is not valid yet. Inside of flow style, as in {a: b}, nothing is told apart.
type outline struct {
	lines   []string
	first   int // the number of the first line in its file, from 0
	entries []entry
	at      []int // by line the entry that it starts, or continues as -2-entry; none where it is blank or a comment
}

// none is for a line without an entry.
const none = -1

// entry is a line of a mapping or a list: a key with what follows it on the line, or an item.
type entry struct {
	path  []string // keys, and the numbers of items
	line  int      // in the outline
	key   string   // "" for an item that is not a mapping
	start int      // where the key starts in the line, or the item's text
	end   int      // where it ends
	value int      // where the value starts, the end of the line where there is none; start for an item
	colon bool     // a colon follows the key
	item  bool     // a dash stands before it
	open  []level
}

// level is an open mapping or list above a line.
type level struct {
	column int
	step   string
	dash   bool
	index  int
}

func newOutline(lines []string, first int) *outline {
	o := &outline{lines: lines, first: first, at: make([]int, len(lines))}
	var open []level
	block := none // the column of the key whose block scalar or continued text the lines belong to
	for n, line := range lines {
		o.at[n] = none
		trimmed := strings.TrimLeft(line, " ")
		column := len(line) - len(trimmed)
		switch {
		case strings.TrimSpace(line) == "" || block < 0 && trimmed[0] == '#':
			continue
		case block >= 0 && column > block:
			o.at[n] = -2 - (len(o.entries) - 1)
			continue
		case trimmed[0] == '#':
			continue
		}
		open = o.read(n, column, open)
		e := &o.entries[len(o.entries)-1]
		o.at[n] = len(o.entries) - 1
		block = none
		if takesMore(strings.TrimSpace(line[e.value:])) || e.key == "" {
			block = open[len(open)-1].column
		}
	}
	return o
}

// takesMore reports whether the lines below that are indented more than a key belong to its value: it is text.
func takesMore(value string) bool {
	return value != "" && value[0] != '#' && value[0] != '&' && value[0] != '!'
}

// read takes a line apart that starts an entry, and returns the levels that are open after it.
func (o *outline) read(n, column int, open []level) []level {
	line := o.lines[n]
	item := false
	for range maxLevels {
		if !strings.HasPrefix(line[column:], "- ") && line[column:] != "-" {
			break
		}
		open = push(open, level{column: column, dash: true})
		item = true
		column++
		column += len(line[column:]) - len(strings.TrimLeft(line[column:], " "))
	}
	e := entry{line: n, start: column, end: len(strings.TrimRight(line, " \t")), value: column, item: item}
	e.end = max(e.end, e.start)
	if key, size, ok := cutKey(line[column:]); ok {
		e.key, e.end, e.colon = key, column+size, true
		rest := line[e.end+1:]
		e.value = len(line) - len(strings.TrimLeft(rest, " "))
		open = push(open, level{column: column, step: key})
	} else if !item {
		open = push(open, level{column: column, step: strings.TrimSpace(line[column:])}) // a key without its colon
		e.key, e.value = open[len(open)-1].step, len(line)
	}
	e.open, e.path = open, steps(open)
	o.entries = append(o.entries, e)
	return open
}

// maxLevels bounds how deep levels are told apart: far beyond what anybody writes.
const maxLevels = 64

// push opens a level after closing those that it ends.
func push(open []level, l level) []level {
	open, l.index = ended(open, l)
	if l.dash {
		l.step = strconv.Itoa(l.index)
	}
	return append(slices.Clip(open[:min(len(open), maxLevels-1)]), l)
}

// ended returns the levels that stay open where another one starts, and the number of an item there.
func ended(open []level, l level) (_ []level, index int) {
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

// cutKey returns the key at the start of a line and its size as written, if a colon follows it.
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

// entryOf returns the entry that a line starts or continues, or nil; starts tells the two apart.
func (o *outline) entryOf(n int) (e *entry, starts bool) {
	if n < 0 || n >= len(o.at) || o.at[n] == none {
		return nil, false
	}
	if o.at[n] < 0 {
		return &o.entries[-2-o.at[n]], false
	}
	return &o.entries[o.at[n]], true
}

// below returns the path of what would start in a column of a line: of the mapping that a key there is of, or of the
// item if a dash stands there.
func (o *outline) below(n, column int, dash bool) []string {
	var open []level
	for n--; n >= 0; n-- {
		if e, starts := o.entryOf(n); starts {
			open = e.open
			break
		}
	}
	l := level{column: column, dash: dash}
	if !dash {
		open, _ = ended(open, l)
		return steps(open)
	}
	return steps(push(open, l))
}

func steps(open []level) []string {
	path := make([]string, len(open))
	for i, l := range open {
		path[i] = l.step
	}
	return path
}

// keys returns the keys that a mapping has, but for that of one line.
func (o *outline) keys(path []string, but int) []string {
	var keys []string
	for i := range o.entries {
		e := &o.entries[i]
		if n := len(e.path) - 1; e.line != but && e.colon && n == len(path) && slices.Equal(e.path[:n], path) {
			keys = append(keys, e.key)
		}
	}
	return keys
}

// values returns the text of what stands at paths of a pattern, in which * is any one step.
func (o *outline) values(pattern string, but int) []string {
	var values []string
	for i := range o.entries {
		e := &o.entries[i]
		if e.line != but && match(pattern, e.path) {
			values = append(values, e.text(o.lines[e.line]))
		}
	}
	return values
}

// match reports whether a path is of a pattern, in which * is any one step.
func match(pattern string, path []string) bool {
	return slices.EqualFunc(strings.Split(pattern, "/"), path, func(w, s string) bool { return w == "*" || w == s })
}

// text returns the value as it is meant: without quotes and comment.
func (e *entry) text(line string) string {
	start, end := e.span(line)
	return line[start:end]
}

// span returns where the value's text is in the line, without quotes and comment.
func (e *entry) span(line string) (start, end int) {
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
