package syntax

import (
	"bytes"
	"fmt"
	"strings"
)

// explain describes an error at an offset without the terms of YAML parsers.
func (f *yamlFault) explain(at int) string {
	line, start := lineAt(f.text, at)
	before := line[:min(at-start, len(line))]
	found := printRune(runeAt(f.text, at))
	if name, ok := f.anchor(); ok {
		return fmt.Sprintf("*%s refers to an unknown anchor: quote it if it is text", name)
	}
	switch f.reason() {
	case "mapping values are not allowed in this context":
		if bytes.Contains(before, []byte(": ")) {
			return `": " inside a value: write the value in quotes`
		}
		return "a key below a line that already has a value: check the indentation"
	case "block sequence entries are not allowed in this context":
		return "an entry of a list is not allowed here: start the list on its own line"
	case "mapping keys are not allowed in this context":
		return "a key is not allowed here"
	case "did not find expected key":
		if text := bytes.TrimRight(before, " "); len(text) > 0 && strings.ContainsRune(`"'`, rune(text[len(text)-1])) {
			return "text after a closing quotation mark: write the whole value in quotes"
		}
		return "expected a key: check the indentation"
	case "did not find expected '-' indicator":
		return `expected an entry of the list above, with "- " before it: check the indentation`
	case "could not find expected ':'":
		return "neither a key with a colon nor an entry of a list"
	case "found unexpected end of stream", "found unexpected document indicator":
		return "this quotation mark is not closed"
	case "did not find expected ',' or ']'", "did not find expected ',' or '}'":
		return fmt.Sprintf("this %s is not closed, or a comma is missing in it", found)
	case "did not find expected node content":
		if found == "[" || found == "{" {
			return fmt.Sprintf("this %s is not closed", found)
		}
		return found + " cannot start a value"
	case "did not find expected <document start>":
		return "expected a document: start it with a line ---"
	case "control characters are not allowed":
		return fmt.Sprintf("a control character, %s", found)
	}
	return f.explainToken(at, found)
}

// explainToken describes an error in a single word.
func (f *yamlFault) explainToken(at int, found string) string {
	const noToken = "found character that cannot start any token"
	switch why := f.reason(); {
	case strings.HasPrefix(why, "exceeded max depth"):
		return "it is nested too deeply"
	case strings.HasPrefix(why, "found a tab character"), why == noToken && runeAt(f.text, at) == '\t':
		return "a tab instead of spaces"
	case why == noToken:
		return found + " cannot start a value: write the value in quotes"
	case why == "did not find expected alphabetic or numeric character":
		if at > 0 && strings.ContainsRune("*&", rune(f.text[at-1])) {
			found = string(f.text[at-1])
		}
		return fmt.Sprintf("%s without a name after it: quote text that starts with it", found)
	case why == "found unknown escape character":
		found = printRune(runeAt(f.text, at+1))
		return fmt.Sprintf(`\%s is not an escape in YAML: use \\ for a backslash, or single quotes`, found)
	case why == "did not find expected hexdecimal number", why == "found invalid Unicode character escape code":
		return "an invalid escape"
	case why == "found unknown directive name", why == "could not find expected directive name":
		return "an unknown directive: quote a value that starts with %"
	case why == "did not find expected comment or line break":
		return "text after | or >: it starts on the next line"
	default:
		return why
	}
}
