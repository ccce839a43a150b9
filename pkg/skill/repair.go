package skill

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Repair returns the file with the YAML error on a line corrected, if there is only one likely meaning: a text that
// needs quotes or indentation, or a list whose entries start with *. It never changes another field. ok is false if the
// line is still invalid after the change, or if the field has another value than the text that was written.
func (d *Document) Repair(line int) (data []byte, ok bool) {
	if bytes.Contains(d.FrontText(), []byte("\n<<<<<<< ")) { // a merge conflict has two meanings
		return nil, false
	}
	for _, repair := range []func(int) (change, bool){d.bullets, d.quoteLine, d.foldText, d.indentText} {
		if c, ok := repair(line); ok {
			data = splice(d.Source, c.start, c.end, c.text)
			if d.repairs(data, line, c) {
				return data, true
			}
		}
	}
	return nil, false
}

// change replaces bytes of the file.
type change struct {
	start, end int
	text       string
	key        string // the field whose value must be want afterwards, or ""
	want       string // in which any white space counts as one space
}

// repairs reports whether a change leaves fewer problems, none on its line, and the wanted value.
func (d *Document) repairs(data []byte, line int, c change) bool {
	_, before := Parse(d.Source)
	doc, after := Parse(data)
	for _, p := range after {
		if p.Line == line && p.Kind == BadYAML {
			return false
		}
	}
	if len(after) >= len(before) || len(doc.Source)-doc.BodyStart != len(d.Source)-d.BodyStart {
		return false
	}
	if c.key == "" {
		return true
	}
	_, v := doc.Lookup(c.key)
	return v != nil && v.Kind == yaml.ScalarNode && !doc.Recovered(v) && words(v.Value) == words(c.want)
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// lineOf returns a line of the frontmatter, its offset, and the offset of the next line.
func (d *Document) lineOf(line int) (text string, start, next int) {
	start = d.offset(line, 1)
	b, next := cutLine(d.Source[:d.FrontEnd], start)
	return string(b), start, next
}

// quoteLine quotes the value of a line that has a key. The value must not go on below the line, and must not contain a
// comment.
func (d *Document) quoteLine(line int) (change, bool) {
	text, start, next := d.lineOf(line)
	key, rest, found := strings.Cut(text, ":")
	value := strings.TrimSpace(rest)
	if !found || value == "" || strings.ContainsAny(key, "\"'{}[]#") || strings.Contains(value, " #") {
		return change{}, false
	}
	if strings.ContainsAny(value[:1], "[{") && !isTextField(key) {
		return change{}, false
	}
	indent := len(key) - len(strings.TrimLeft(key, " "))
	follower, _, _ := d.lineOf(line + 1)
	if next < d.FrontEnd && strings.TrimSpace(follower) != "" && len(follower)-len(strings.TrimLeft(follower, " \t")) > indent {
		return change{}, false
	}
	want, ok := intended(value)
	at := start + len(key) + 1 + strings.Index(rest, value)
	c := change{start: at, end: at + len(value), text: yamlx.QuoteText(want)}
	if indent == 0 {
		c.key, c.want = key, want
	}
	return c, ok
}

// intended returns the text that an invalid value on one line was meant to be.
func intended(value string) (string, bool) {
	quote := value[0]
	switch {
	case quote == '>' || quote == '|':
		header, text, ok := strings.Cut(value, " ")
		return strings.TrimSpace(text), ok && len(header) <= 2
	case quote != '"' && quote != '\'':
		return value, true
	case !strings.Contains(value[1:], string(quote)): // not closed
		return value[1:], quote == '\'' || !strings.Contains(value, `\`)
	}
	inner := strings.TrimSuffix(value[1:], string(quote))
	closing := 1 + strings.IndexByte(value[1:], quote)
	switch {
	case closing == len(value)-1:
		if quote == '"' && strings.Contains(inner, `\`) { // \d and the like; \n could be meant as it is written
			return strings.ReplaceAll(inner, `\\`, `\`), !knownEscape(inner)
		}
		return "", false
	case len(inner) == len(value)-1 || strings.Contains(value, `\`): // 'a' b
		return value, !strings.Contains(value, `\`)
	case value[closing-1] == ' ' || isLetter(value[closing+1]): // "a "b" c" or 'it's'
		return inner, true
	}
	return value, true // "a" and "b"
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

// knownEscape reports whether a double-quoted text has an escape of YAML other than an escaped backslash.
func knownEscape(s string) bool {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return false
		}
		if strings.IndexByte("0abtnvfre \"/N_LPxuU", s[i+1]) >= 0 {
			return true
		}
		s = s[i+2:]
	}
}

// isTextField reports whether the value of a field is prose, never a list or a mapping.
func isTextField(key string) bool {
	return key == "description" || key == "when_to_use" || key == "compatibility"
}

// textField returns the field of a text that a line is part of: its key, the text on the line of the key, the offset of
// that text, and the lines below it.
func (d *Document) textField(line int) (key, first string, at int, below []string, ok bool) {
	top := line
	for ; top > d.FrontLine; top-- {
		text, _, _ := d.lineOf(top)
		if _, ok := keyOf([]byte(text)); ok {
			break
		}
	}
	text, start, next := d.lineOf(top)
	key, ok = keyOf([]byte(text))
	if !ok || !isTextField(key) {
		return "", "", 0, nil, false
	}
	for n := top + 1; next < d.FrontEnd; n++ {
		text, _, after := d.lineOf(n)
		if _, ok := keyOf([]byte(text)); ok {
			break
		}
		below, next = append(below, text), after
	}
	for len(below) > 0 && strings.TrimSpace(below[len(below)-1]) == "" {
		below = below[:len(below)-1]
	}
	first = text[len(key)+1:]
	return key, strings.TrimSpace(first), start + len(key) + 1, below, len(below) > 0
}

// foldText writes an unquoted text of several lines as a folded block.
func (d *Document) foldText(line int) (change, bool) {
	key, first, at, below, ok := d.textField(line)
	if !ok || first == "" || strings.ContainsAny(first[:1], "\"'[{&*!#") {
		return change{}, false
	}
	header := ">-"
	if first[0] == '>' || first[0] == '|' { // text on the line of the indicator
		if header, first, ok = strings.Cut(first, " "); !ok || len(header) > 2 {
			return change{}, false
		}
	}
	return d.block(key, header, first, at, below)
}

// indentText indents the lines of a text that start in the first column.
func (d *Document) indentText(line int) (change, bool) {
	key, first, at, below, ok := d.textField(line)
	if !ok || first != ">" && first != "|" && first != ">-" && first != "|-" {
		return change{}, false
	}
	return d.block(key, first, "", at, below)
}

// block is the change that writes a text as a block scalar. Lines below the key have one indentation, or none.
func (d *Document) block(key, header, first string, at int, below []string) (change, bool) {
	indent := -1
	for _, text := range below {
		if blank := strings.TrimSpace(text) == ""; !blank {
			n := len(text) - len(strings.TrimLeft(text, " "))
			if indent >= 0 && n != indent || text[n] == '\t' || text[n] == '#' {
				return change{}, false
			}
			indent = n
		}
	}
	var b strings.Builder
	b.WriteString(" " + header)
	lines := below
	if first != "" {
		lines = append([]string{strings.Repeat(" ", indent) + first}, below...)
	}
	for _, text := range lines {
		b.WriteString(d.EOL)
		if text = strings.TrimSpace(text); text != "" {
			b.WriteString(strings.Repeat(" ", max(indent, 2)) + text)
		}
	}
	end := at + len(d.rawLine(at))
	for range below {
		_, end = cutLine(d.Source, end)
		end += len(d.rawLine(end))
	}
	return change{start: at, end: end, text: b.String(), key: key, want: first + " " + strings.Join(below, " ")}, true
}

// rawLine returns the rest of the line at an offset, without its ending.
func (d *Document) rawLine(at int) []byte {
	line, _ := cutLine(d.Source[:d.FrontEnd], at)
	return line
}

// bullets writes the entries of a list that start with * as YAML does.
func (d *Document) bullets(line int) (change, bool) {
	text, start, next := d.lineOf(line)
	if !isBullet(text) {
		return change{}, false
	}
	end := next
	for n := line + 1; next < d.FrontEnd; n++ {
		text, _, after := d.lineOf(n)
		if isBullet(text) {
			end = after
		} else if strings.TrimSpace(text) != "" {
			break
		}
		next = after
	}
	var b strings.Builder
	for entry := range bytes.Lines(d.Source[start:end]) {
		b.Write(bytes.Replace(entry, []byte("* "), []byte("- "), 1))
	}
	return change{start: start, end: end, text: b.String()}, true
}

// isBullet reports whether a line is an entry of a list in Markdown that YAML does not know.
func isBullet(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, " "), "* ") }
