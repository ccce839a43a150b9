package lint

import "bytes"

// Reading Markdown takes time that grows with the square of how deep containers nest in a line and of how many
// delimiters a paragraph has. These bounds are far above real text and keep the worst case well under a second.
const (
	maxContainers = 100
	maxDelimiters = 10_000
)

// tooComplex reports whether text is beyond those bounds.
func tooComplex(text []byte) bool {
	delimiters := 0
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		containers, inside := containers(line)
		if containers > maxContainers {
			return true
		}
		if len(inside) == 0 {
			delimiters = 0
			continue
		}
		for _, c := range inside {
			if c == '[' || c == '*' || c == '_' || c == '<' || c == '`' {
				delimiters++
			}
		}
		if delimiters > maxDelimiters {
			return true
		}
	}
	return false
}

// containers counts the block quotes and list items that a line opens or continues, and returns what is inside them.
func containers(line []byte) (n int, inside []byte) {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case isSpace(c):
			i++
			continue
		case c == '>':
			i++
		case (c == '-' || c == '+' || c == '*') && i+1 < len(line) && isSpace(line[i+1]):
			i += 2
		case c >= '0' && c <= '9':
			end := i
			for end < len(line) && line[end] >= '0' && line[end] <= '9' {
				end++
			}
			if end+1 >= len(line) || line[end] != '.' && line[end] != ')' || !isSpace(line[end+1]) {
				return n, line[i:]
			}
			i = end + 2
		default:
			return n, line[i:]
		}
		n++
	}
	return n, nil
}
