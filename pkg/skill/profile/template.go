package profile

import (
	"fmt"
	"strings"
)

// Template is a text with placeholders: {name} is replaced by a value, {name|filter} by a filtered value, and text in
// [[ ]] is omitted if one of its values is empty. {{ is a literal brace, and so is a brace without a lowercase word
// and a closing brace after it. Sections do not nest.
type Template struct{ parts []part }

// part is a literal, a value, or an optional section.
type part struct {
	literal  string
	name     string // of the value; "" for a literal or a section
	filter   string
	optional []part // of a section
}

// ParseTemplate parses a template. The error is for the author of the profile.
func ParseTemplate(text string) (Template, error) {
	var t Template
	for text != "" {
		open := strings.Index(text, "[[")
		if open < 0 {
			t.parts = values(t.parts, text)
			break
		}
		t.parts = values(t.parts, text[:open])
		section, rest, ok := strings.Cut(text[open+2:], "]]")
		if !ok {
			return Template{}, fmt.Errorf("[[ does not have a closing ]]")
		}
		if strings.Contains(section, "[[") {
			return Template{}, fmt.Errorf("[[ is inside another [[")
		}
		t.parts = append(t.parts, part{optional: values(nil, section)})
		text = rest
	}
	return t, nil
}

// values appends the literals and values of a text without sections.
func values(parts []part, text string) []part {
	for text != "" {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return append(parts, part{literal: text})
		}
		if open > 0 {
			parts = append(parts, part{literal: text[:open]})
			text = text[open:]
		}
		name, filter, n := placeholder(text)
		switch {
		case n > 0:
			parts = append(parts, part{name: name, filter: filter})
		case strings.HasPrefix(text, "{{"):
			parts, n = append(parts, part{literal: "{"}), 2
		default:
			parts, n = append(parts, part{literal: "{"}), 1
		}
		text = text[n:]
	}
	return parts
}

// placeholder parses a placeholder at the start of the text, and returns its length, or 0.
func placeholder(text string) (name, filter string, n int) {
	end := strings.IndexByte(text, '}')
	if end < 2 {
		return "", "", 0
	}
	name, filter, filtered := strings.Cut(text[1:end], "|")
	if !isWord(name) || filtered && !isWord(filter) {
		return "", "", 0
	}
	return name, filter, end + 1
}

func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') &&
			(r < '0' || r > '9')
	})
}

// Value is a placeholder in a template.
type Value struct{ Name, Filter string }

// Values returns the placeholders, in order.
func (t Template) Values() []Value {
	var out []Value
	each(t.parts, func(p part) {
		if p.name != "" {
			out = append(out, Value{p.name, p.filter})
		}
	})
	return out
}

func each(parts []part, f func(part)) {
	for _, p := range parts {
		f(p)
		each(p.optional, f)
	}
}

// Whole returns the placeholder if the template consists of nothing else.
func (t Template) Whole() (Value, bool) {
	if len(t.parts) != 1 || t.parts[0].name == "" {
		return Value{}, false
	}
	return Value{t.parts[0].name, t.parts[0].filter}, true
}

// Expand fills the template. value returns the value of a placeholder.
func (t Template) Expand(b *strings.Builder, value func(Value) string) {
	for _, p := range t.parts {
		if p.optional == nil {
			p.expand(b, value)
			continue
		}
		if allPresent(p.optional, value) {
			for _, q := range p.optional {
				q.expand(b, value)
			}
		}
	}
}

func (p part) expand(b *strings.Builder, value func(Value) string) {
	if p.name == "" {
		b.WriteString(p.literal)
		return
	}
	b.WriteString(value(Value{p.name, p.filter}))
}

// allPresent reports whether all values of a section are non-empty.
func allPresent(parts []part, value func(Value) string) bool {
	for _, p := range parts {
		if p.name != "" && value(Value{Name: p.name}) == "" {
			return false
		}
	}
	return true
}
