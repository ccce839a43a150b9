package syntax

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// maxYAML is the maximum size of a YAML file, in bytes. The parser needs many times as much memory.
const maxYAML = 1 << 20

// YAML returns the first problem of a YAML file, or nil. The file may have any number of documents. Custom tags and
// duplicate keys are not problems. A template is not checked: a file with a template engine's placeholder at the start
// of a line or value, or with any placeholder at the position of the error. Neither is a file in UTF-16 or larger than
// a megabyte.
func YAML(_ string, text []byte) *Problem {
	if len(text) > maxYAML || bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil
	}
	content := bytes.TrimPrefix(text, bom)
	if bytes.Count(content, []byte("%TAG")) > maxTagDirectives {
		return nil
	}
	message := parseYAML(bytes.NewReader(content))
	if strings.HasSuffix(message, surrogateError) {
		if hidden, ok := yamlx.HideSurrogates(content); ok { // of the same length
			content = hidden
			message = parseYAML(bytes.NewReader(content))
		}
	}
	if message == "" || yamlTemplate(content) {
		return nil
	}
	if p := unicodeText(text, "YAML"); p != nil {
		return p
	}
	if p := conflict(text); p != nil {
		return p
	}
	f := yamlFault{text: content, message: message}
	at := f.offset()
	if line, start := lineAt(content, at); hasPlaceholder(line, at-start) {
		return nil
	}
	return problem(text, len(text)-len(content)+at, f.explain(at))
}

// surrogateError is the parser's message about half of a character, which other parsers accept if the other half follows.
const surrogateError = "found invalid Unicode character escape code"

// maxTagDirectives limits the %TAG directives of a file, because the parser compares each with all others.
const maxTagDirectives = 1000

// parseYAML returns the message of the first error, or "".
func parseYAML(r io.Reader) (message string) {
	defer ignorePanic(&message)
	dec := yaml.NewDecoder(r)
	for {
		var doc yaml.Node // aliases stay aliases, so that they cost nothing
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			return ""
		} else if err != nil {
			return strings.TrimPrefix(err.Error(), "yaml: ")
		}
	}
}

// yamlTemplate reports whether a text is a template: a line or a value starts with {{, {% or <%.
func yamlTemplate(text []byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexAny(text[at:], "{<")
		if n < 0 {
			return false
		}
		at += n
		if !directive(text[at:]) {
			continue
		}
		line, start := lineAt(text, at)
		before := string(bytes.TrimRight(line[:at-start], " "))
		switch value := len(before) < at-start; {
		case before == "", value && strings.HasSuffix(before, ":"), value && strings.HasSuffix(before, "-"):
			return true
		}
	}
}

// directive reports whether text starts with a directive of a template engine.
func directive(text []byte) bool {
	for _, marks := range [...][2]string{{"{{", "}}"}, {"{%", "%}"}, {"{#", "#}"}, {"<%", "%>"}} {
		if bytes.HasPrefix(text, []byte(marks[0])) {
			return closes(text[2:], marks[1])
		}
	}
	return false
}

// hasPlaceholder reports whether a line has a placeholder where parsing failed: a template engine's placeholder, except
// GitHub's ${{ }}, anywhere on the line, or a user's placeholder, such as $NAME, <name>, or @NAME@, at that offset or
// at the start of the line's value.
func hasPlaceholder(line []byte, at int) bool {
	for i := range line {
		if directive(line[i:]) && (i == 0 || line[i-1] != '$') {
			return true
		}
	}
	for _, start := range [...]int{at, valueStart(line)} {
		if start < len(line) && line[start] != '{' && placeholderAt(line, start) {
			return true
		}
	}
	return false
}

// valueStart returns the offset of a line's value: after the hyphens of lists, and after a key.
func valueStart(line []byte) int {
	at := len(line) - len(bytes.TrimLeft(line, " -"))
	if n := bytes.Index(line[at:], []byte(": ")); n >= 0 {
		at += n + 1
	}
	return len(line) - len(bytes.TrimLeft(line[at:], " "))
}

// isYAMLControl reports whether YAML forbids a character.
func isYAMLControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xfffe ||
		r == 0xffff
}

// yamlControl returns the offset of the first character that YAML does not allow.
func yamlControl(text []byte) int {
	return max(bytes.IndexFunc(text, isYAMLControl), 0)
}

// runeAt returns the character at an offset, or U+FFFD at the end.
func runeAt(text []byte, at int) rune {
	r, _ := utf8.DecodeRune(text[min(at, len(text)):])
	return r
}
