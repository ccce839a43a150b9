package yamlx

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// scanQuoted returns the offset after the quoted scalar that starts at start, or the end of the data.
func scanQuoted(data []byte, start int) int {
	quote := data[start]
	for i := start + 1; i < len(data); i++ {
		switch {
		case quote == '"' && data[i] == '\\':
			i++
		case data[i] != quote:
		case quote == '\'' && i+1 < len(data) && data[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(data)
}

// scanPlain returns the offset after the plain scalar that starts at start, which ends with its line at the latest.
func scanPlain(data []byte, start int, flow bool) int {
	end := start
	for i := start; i < len(data); i++ {
		c := data[i]
		switch {
		case c == '\n' || c == '\r':
			return end
		case c == '#' && i > start && isBlank(data[i-1]):
			return end
		case c == ':' && (i+1 == len(data) || isBlank(data[i+1]) || flow &&
			bytes.IndexByte([]byte(",[]{}"), data[i+1]) >= 0):
			return end
		case flow && bytes.IndexByte([]byte(",[]{}"), c) >= 0:
			return end
		case !isBlank(c):
			end = i + 1
		}
	}
	return end
}

// scanFlow returns the offset after the flow collection that starts at start, and the offset after the last thing in it
// that is neither white space nor a comment.
func scanFlow(data []byte, start int) (end, last int) {
	depth, last := 0, start+1
	for i := start; i < len(data); i++ {
		switch c := data[i]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1, last
			}
		case (c == '"' || c == '\'') && startsToken(data, i):
			i = scanQuoted(data, i) - 1
		case c == '#' && isBlank(data[i-1]):
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
			continue
		case isBlank(c):
			continue
		}
		if i+1 <= len(data) {
			last = i + 1
		}
	}
	return len(data), last
}

// startsToken reports whether a quote at i opens a quoted scalar, and is not part of a plain one.
func startsToken(data []byte, i int) bool {
	for i--; i >= 0; i-- {
		if !isBlank(data[i]) {
			return bytes.IndexByte([]byte(",[]{}:"), data[i]) >= 0
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// ScalarEnd returns the offset after a scalar that starts at an offset, and its quote, 0 for none. It is false for what
// is not a scalar, and for scalars over several lines, with tags, or with anchors.
func ScalarEnd(data []byte, start int, n *yaml.Node) (end int, quote byte, ok bool) {
	switch {
	case n.Kind != yaml.ScalarNode || start >= len(data):
		return start, 0, n.Kind == yaml.ScalarNode && n.Value == ""
	case data[start] == '\'' || data[start] == '"':
		end = scanQuoted(data, start)
		closed := end-start > 1 && data[end-1] == data[start]
		return end, data[start], closed && !bytes.ContainsRune(data[start:end], '\n')
	}
	end = start + len(n.Value)
	return end, 0, end <= len(data) && string(data[start:end]) == n.Value
}
