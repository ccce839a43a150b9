package syntax

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// yamlFault finds the place of an error. The parser says at best a line, and often another one than that of the error.
// But it tells the same of every text that ends after the error, and not of one that ends before, so that asking it
// again a few times finds the place.
type yamlFault struct {
	text    []byte
	message string // with the line that the parser gives
	asked   int
}

// Bounds of how often, and about how much text, the parser is asked again.
const (
	maxAsked = 40
	maxAgain = 64 << 10
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

// same reports whether the parser says the same of the text up to an offset.
func (f *yamlFault) same(end int) bool { return f.sameWith(end, "") }

// sameWith reports whether the parser says the same of the text up to an offset with something after it.
func (f *yamlFault) sameWith(end int, after string) bool {
	f.asked++
	return f.asked <= maxAsked && reason(parseYAML(f.upTo(end, after))) == f.reason()
}

// upTo returns the text up to an offset with something after it.
func (f *yamlFault) upTo(end int, after string) io.Reader {
	return io.MultiReader(bytes.NewReader(f.text[:end]), strings.NewReader(after))
}

// place returns the offset of the error.
func (f *yamlFault) place() int {
	switch why := f.reason(); {
	case why == "control characters are not allowed":
		return yamlControl(f.text)
	case len(f.text) > maxAgain:
		return f.roughly()
	case why == "found unexpected end of stream", why == "found unexpected document indicator":
		return f.opened(f.lineEnd(), `"'`, "")
	case strings.HasPrefix(why, "did not find expected ',' or "):
		return f.opened(f.read(), "[{", " x")
	case why == "did not find expected node content":
		return f.content()
	}
	return f.token()
}

// content returns the place of an error that the text before it has too, since that ends in an open bracket: the first
// comma or closing bracket in whose place a word would be right, or the open bracket when a word at the end would be.
func (f *yamlFault) content() int {
	end := f.read()
	if !f.sameWith(end, " x") {
		open := yamlFault{text: f.text, asked: f.asked, message: parseYAML(f.upTo(end, " x"))}
		return open.opened(end, "[{", " x")
	}
	for at := end; f.asked < maxAsked; {
		if at = bytes.LastIndexAny(f.text[:at], ",]}"); at < 0 {
			break
		}
		if !f.sameWith(at, " x") {
			return at
		}
	}
	return f.token()
}

// read returns how far the parser reads before it gives up.
func (f *yamlFault) read() int {
	r := &byteReader{text: f.text}
	parseYAML(r)
	return r.at
}

// byteReader gives a text byte by byte, so that no more of it is read than is needed.
type byteReader struct {
	text []byte
	at   int
}

// Read implements [io.Reader].
func (r *byteReader) Read(p []byte) (int, error) {
	if r.at == len(r.text) {
		return 0, io.EOF
	}
	p[0] = r.text[r.at]
	r.at++
	return 1, nil
}

// token returns the start of what is wrong, by the first line and then the first byte of it that the error needs.
func (f *yamlFault) token() int {
	_, start := lineAt(f.text, max(f.read()-1, 0))
	for start > 0 && f.same(start) {
		_, start = lineAt(f.text, start-1)
	}
	line, _ := lineAt(f.text, start)
	first := start + indentOf(line)
	if f.reason() == "could not find expected ':'" {
		return first // every word is what might have been a key
	}
	low, high := first, start+len(line) // the error needs more than low, and not more than high
	for low+1 < high {
		if middle := (low + high) / 2; f.same(middle) {
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

// word returns the start of a word, given an offset in it, for errors about keys, of which the parser notices the
// colon.
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

// anchor returns the name of an anchor that does not exist, if that is what is wrong.
func (f *yamlFault) anchor() (string, bool) {
	name, ok := strings.CutPrefix(f.reason(), "unknown anchor '")
	return strings.TrimSuffix(name, "' referenced"), ok
}

// opened returns the last of some characters before end that the error needs: the quotation mark or bracket that is not
// closed. What is put in its place is after.
func (f *yamlFault) opened(end int, chars, after string) int {
	for at := min(end, len(f.text)); f.asked < maxAsked; {
		if at = bytes.LastIndexAny(f.text[:at], chars); at < 0 {
			break
		}
		if !f.sameWith(at, after) {
			return at
		}
	}
	return f.roughly()
}

// lineEnd returns the end of the line that the parser gives for something that is not closed; the end of the first line
// if it is that, for which the parser gives another.
func (f *yamlFault) lineEnd() int {
	start := f.roughly()
	if f.same(start) {
		start = 0
	}
	line, start := lineAt(f.text, start)
	return start + len(line)
}

// roughly returns the start of the line that the parser gives.
func (f *yamlFault) roughly() int {
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
