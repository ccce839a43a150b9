package lint

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"
)

// attribute is one attribute of an HTML element.
type attribute struct {
	name   string // in lower case
	value  string // entities resolved
	offset int    // of the value
	width  int    // of the value as it stands there, in code points
}

// htmlAttributes returns the attributes of all elements in a piece of HTML, in order; comments, declarations and closing
// tags have none. It reads every byte a bounded number of times.
func htmlAttributes(b []byte) []attribute {
	var out []attribute
	for i := 0; i < len(b); {
		if b[i] != '<' {
			i++
			continue
		}
		if bytes.HasPrefix(b[i:], []byte("<!--")) {
			end := bytes.Index(b[i+4:], []byte("-->"))
			if end < 0 {
				return out
			}
			i += 4 + end + 3
			continue
		}
		if i+1 >= len(b) || !isLetter(b[i+1]) {
			i++
			continue
		}
		i++
		for i < len(b) && !isSpace(b[i]) && b[i] != '>' && b[i] != '/' {
			i++
		}
		out, i = tagAttributes(b, i, out)
	}
	return out
}

// tagAttributes reads the attributes of the tag whose name ends at i, up to its end.
func tagAttributes(b []byte, i int, out []attribute) ([]attribute, int) {
	for i < len(b) && b[i] != '>' {
		if isSpace(b[i]) || b[i] == '/' || b[i] == '=' {
			i++
			continue
		}
		start := i
		for i < len(b) && !isSpace(b[i]) && b[i] != '=' && b[i] != '>' && b[i] != '/' {
			i++
		}
		name := strings.ToLower(string(b[start:i]))
		next := skipSpace(b, i)
		if next >= len(b) || b[next] != '=' {
			continue
		}
		var value []byte
		var at int
		value, at, i = attributeValue(b, skipSpace(b, next+1))
		out = append(out, attribute{name, html.UnescapeString(string(value)), at, utf8.RuneCount(value)})
	}
	return out, i
}

// attributeValue reads the value that starts at i; it returns where the value and what follows it start.
func attributeValue(b []byte, i int) (value []byte, at, next int) {
	if i >= len(b) {
		return nil, i, i
	}
	if quote := b[i]; quote == '"' || quote == '\'' {
		end := bytes.IndexByte(b[i+1:], quote)
		if end < 0 {
			return b[i+1:], i + 1, len(b)
		}
		return b[i+1 : i+1+end], i + 1, i + 1 + end + 1
	}
	start := i
	for i < len(b) && !isSpace(b[i]) && b[i] != '>' {
		i++
	}
	return b[start:i], start, i
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
