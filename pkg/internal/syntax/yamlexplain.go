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
		return fmt.Sprintf("*%s refers to an unknown anchor: write the value in quotes if it is text", name)
	}
	switch f.reason() {
	case "mapping values are not allowed in this context":
		if bytes.Contains(before, []byte(": ")) {
			return `unexpected ": " inside a value: write the value in quotes`
		}
		return "unexpected key below a line that already has a value: check the indentation"
	case "block sequence entries are not allowed in this context":
		return "a list cannot start on the line of its key: start the list on the next line"
	case "mapping keys are not allowed in this context":
		return "unexpected key: check the indentation"
	case "did not find expected key":
		if text := bytes.TrimRight(before, " "); len(text) > 0 && strings.ContainsRune(`"'`, rune(text[len(text)-1])) {
			return "unexpected text after a closing quotation mark: write the whole value in quotes"
		}
		return "expected a key: check the indentation"
	case "did not find expected '-' indicator":
		return `expected an entry that starts with "- " in the list above: check the indentation`
	case "could not find expected ':'":
		return "expected a key with a colon, or an entry of a list"
	case "found unexpected end of stream", "found unexpected document indicator":
		return "the string that starts here is not closed"
	case "did not find expected ',' or ']'", "did not find expected ',' or '}'":
		return fmt.Sprintf("this %s is not closed, or a comma is missing in it", found)
	case "did not find expected node content":
		if found == "[" || found == "{" {
			return fmt.Sprintf("this %s is not closed", found)
		}
		return found + " cannot start a value"
	case "did not find expected <document start>":
		return "expected a document: start the document with the line ---"
	case "control characters are not allowed":
		return fmt.Sprintf("YAML does not allow the control character %s", found)
	}
	return f.explainToken(at, found)
}

// explainToken describes an error in a single word.
func (f *yamlFault) explainToken(at int, found string) string {
	const noToken = "found character that cannot start any token"
	switch why := f.reason(); {
	case strings.HasPrefix(why, "exceeded max depth"):
		return "the document is nested too deeply"
	case strings.HasPrefix(why, "found a tab character"), why == noToken && runeAt(f.text, at) == '\t':
		return "YAML does not allow tabs for indentation: use spaces"
	case why == noToken:
		return found + " cannot start a value: write the value in quotes"
	case why == "did not find expected alphabetic or numeric character":
		if at > 0 && strings.ContainsRune("*&", rune(f.text[at-1])) {
			found = string(f.text[at-1])
		}
		return fmt.Sprintf("expected a name after %s: write the value in quotes if it is text", found)
	case why == "found unknown escape character":
		found = printRune(runeAt(f.text, at+1))
		return fmt.Sprintf(`\%s is not an escape sequence in YAML: use \\ for a backslash, or single quotes`, found)
	case why == "did not find expected hexdecimal number", why == "found invalid Unicode character escape code":
		return "invalid escape sequence"
	case why == "found unknown directive name", why == "could not find expected directive name":
		return "unknown directive: use quotes around a value that starts with %"
	case why == "did not find expected comment or line break":
		return "unexpected text after | or >: start the text on the next line"
	default:
		return why
	}
}
