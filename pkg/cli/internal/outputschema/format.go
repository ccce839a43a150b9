package outputschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxLine is the length of lines in characters up to which an object or a list stays on one line.
const maxLine = 118

// format indents JSON, with objects and lists on one line if they fit.
func format(text []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := write(&b, text, 0, 0); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// write writes a value at a depth, after a number of characters on its line.
func write(b *bytes.Buffer, text []byte, depth, before int) error {
	parts, marks, err := split(text)
	if err != nil {
		return err
	}
	if marks == "" {
		b.Write(bytes.TrimSpace(text))
		return nil
	}
	line, err := oneLine(text)
	if err != nil {
		return err
	}
	if depth > 0 && before+utf8.RuneCount(line) <= maxLine || len(parts) == 0 {
		b.Write(line)
		return nil
	}
	b.WriteByte(marks[0])
	used := maxLine
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		if scalar := marks == "[]" && p.value[0] == '"'; scalar && used+2+len(p.value) < maxLine {
			used += 2 + len(p.value)
			fmt.Fprintf(b, " %s", p.value)
			continue
		}
		used = depth + 1 + len(p.value)
		indent := strings.Repeat(" ", depth+1)
		b.WriteString("\n" + indent + p.key)
		if err := write(b, p.value, depth+1, len(indent)+len(p.key)); err != nil {
			return err
		}
	}
	b.WriteString("\n" + strings.Repeat(" ", depth))
	b.WriteByte(marks[1])
	return nil
}

// part is an element of a list, or a field of an object with its key and colon.
type part struct {
	key   string
	value json.RawMessage
}

// split returns the parts of an object or list and its two delimiters, "" for another value.
func split(text []byte) (parts []part, marks string, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	first, err := dec.Token()
	if err != nil {
		return nil, "", err
	}
	switch first {
	case json.Delim('{'):
		marks = "{}"
	case json.Delim('['):
		marks = "[]"
	default:
		return nil, "", nil
	}
	for dec.More() {
		var p part
		if marks == "{}" {
			key, err := dec.Token()
			if err != nil {
				return nil, "", err
			}
			p.key = fmt.Sprintf("%q: ", key)
		}
		if err := dec.Decode(&p.value); err != nil {
			return nil, "", err
		}
		parts = append(parts, p)
	}
	return parts, marks, nil
}

// oneLine returns a value on one line, with spaces after colons and commas.
func oneLine(text []byte) ([]byte, error) {
	parts, marks, err := split(text)
	if err != nil {
		return nil, err
	}
	if marks == "" {
		return bytes.TrimSpace(text), nil
	}
	var lines [][]byte
	for _, p := range parts {
		value, err := oneLine(p.value)
		if err != nil {
			return nil, err
		}
		lines = append(lines, append([]byte(p.key), value...))
	}
	return append(append([]byte(marks[:1]), bytes.Join(lines, []byte(", "))...), marks[1]), nil
}
