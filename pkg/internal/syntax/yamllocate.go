package syntax

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// yamlFault locates an error. The parser reports at most a line, which is often wrong. But it reports the same error
// for every prefix of the text that includes the error, and another one for shorter prefixes. So a few more attempts
// find the offset.
type yamlFault struct {
	text     []byte
	message  string // with the parser's line
	attempts int
}

// Limits of the number of attempts, and of the size of the text for which they are made.
const (
	maxAttempts = 40
	maxReparse  = 64 << 10
)

// reason returns the message without its line.
func reason(message string) string {
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if _, rest, ok = strings.Cut(rest, ": "); ok {
			return rest
		}
	}
	return message
}

func (f *yamlFault) reason() string { return reason(f.message) }

// failsSame reports whether the parser reports the same error for the text up to an offset.
func (f *yamlFault) failsSame(end int) bool { return f.failsSameWith(end, "") }

// failsSameWith reports whether the parser reports the same error for the text up to an offset with something after it.
func (f *yamlFault) failsSameWith(end int, after string) bool {
	f.attempts++
	return f.attempts <= maxAttempts && reason(parseYAML(f.prefix(end, after))) == f.reason()
}

// prefix returns the text up to an offset with something after it.
func (f *yamlFault) prefix(end int, after string) io.Reader {
	return io.MultiReader(bytes.NewReader(f.text[:end]), strings.NewReader(after))
}

// offset returns the offset of the error.
func (f *yamlFault) offset() int {
	switch why := f.reason(); {
	case why == "control characters are not allowed":
		return yamlControl(f.text)
	case len(f.text) > maxReparse:
		return f.reportedLine()
	case why == "found unexpected end of stream", why == "found unexpected document indicator":
		return f.openDelimiter(f.lineEnd(), `"'`, "")
	case strings.HasPrefix(why, "did not find expected ',' or "):
		return f.openDelimiter(f.consumed(), "[{", " x")
	case why == "did not find expected node content":
		return f.content()
	}
	return f.token()
}

// content returns the offset of an error that also occurs before its position, because the text there ends in an open
// bracket. It is the first comma or closing bracket that a word could replace, or the open bracket if a word at the end
// would be valid.
func (f *yamlFault) content() int {
	end := f.consumed()
	if !f.failsSameWith(end, " x") {
		open := yamlFault{text: f.text, attempts: f.attempts, message: parseYAML(f.prefix(end, " x"))}
		return open.openDelimiter(end, "[{", " x")
	}
	for at := end; f.attempts < maxAttempts; {
		if at = bytes.LastIndexAny(f.text[:at], ",]}"); at < 0 {
			break
		}
		if !f.failsSameWith(at, " x") {
			return at
		}
	}
	return f.token()
}

// consumed returns how many bytes the parser reads before it fails.
func (f *yamlFault) consumed() int {
	r := &byteReader{text: f.text}
	parseYAML(r)
	return r.pos
}

// byteReader returns a text byte by byte, so that the parser reads no more than it needs.
type byteReader struct {
	text []byte
	pos  int
}

// Read implements [io.Reader].
func (r *byteReader) Read(p []byte) (int, error) {
	if r.pos == len(r.text) {
		return 0, io.EOF
	}
	p[0] = r.text[r.pos]
	r.pos++
	return 1, nil
}

// token returns the start of the invalid token: the first line, and then the first byte in it, without which the error
// changes.
func (f *yamlFault) token() int {
	_, start := lineAt(f.text, max(f.consumed()-1, 0))
	for start > 0 && f.failsSame(start) {
		_, start = lineAt(f.text, start-1)
	}
	line, _ := lineAt(f.text, start)
	first := start + indentOf(line)
	if f.reason() == "could not find expected ':'" {
		return first // any word may have been meant as a key
	}
	low, high := first, start+len(line) // the error needs more than low and at most high
	for low+1 < high {
		if middle := (low + high) / 2; f.failsSame(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	if name, ok := f.anchor(); ok {
		return max(bytes.LastIndex(f.text[:high], []byte("*"+name)), first)
	}
	return f.word(first, low)
}

// word returns the start of the word at an offset, for errors about keys, which the parser reports at the colon.
func (f *yamlFault) word(first, at int) int {
	switch f.reason() {
	case "mapping values are not allowed in this context":
		if !bytes.Contains(f.text[first:at], []byte(": ")) {
			return first
		}
	case "did not find expected key", "did not find expected '-' indicator":
		if f.text[at] != ':' {
			return at
		}
		return max(first, bytes.LastIndexAny(f.text[:at+1], " ")+1)
	}
	return at
}

// anchor returns the name of a missing anchor, if the error is about one.
func (f *yamlFault) anchor() (string, bool) {
	name, ok := strings.CutPrefix(f.reason(), "unknown anchor '")
	return strings.TrimSuffix(name, "' referenced"), ok
}

// openDelimiter returns the offset of the unclosed quotation mark or bracket: the last of the given characters before
// end without which the error changes. after replaces it in an attempt.
func (f *yamlFault) openDelimiter(end int, chars, after string) int {
	for at := min(end, len(f.text)); f.attempts < maxAttempts; {
		if at = bytes.LastIndexAny(f.text[:at], chars); at < 0 {
			break
		}
		if !f.failsSameWith(at, after) {
			return at
		}
	}
	return f.reportedLine()
}

// lineEnd returns the end of the line that the parser reports for an unclosed construct. For the first line the parser
// reports another line, so it returns the end of the first line.
func (f *yamlFault) lineEnd() int {
	start := f.reportedLine()
	if f.failsSame(start) {
		start = 0
	}
	line, start := lineAt(f.text, start)
	return start + len(line)
}

// reportedLine returns the start of the line that the parser reports.
func (f *yamlFault) reportedLine() int {
	number, _, _ := strings.Cut(strings.TrimPrefix(f.message, "line "), ":")
	n, err := strconv.Atoi(number)
	at := 0
	for ; err == nil && n > 1; n-- {
		end := bytes.IndexByte(f.text[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	line, _ := lineAt(f.text, at)
	return at + indentOf(line)
}

func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }
