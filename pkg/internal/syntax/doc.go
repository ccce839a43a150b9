// Package syntax checks whether a shell script, a JSON file, or a YAML file is well formed. Start reading at [Shell],
// [JSON], and [YAML].
//
// It reports only errors that prevent a program from reading the file. Some files of skills are not valid on their own,
// for example templates with placeholders, and JSON with comments for tools that allow them. Such a file does not have
// a problem, and neither does one that looks like it at the position of the error: false positives would make users
// turn the linter off. Only the first problem of a file is reported, because the rest depends on it.
//
// Every function takes linear time, and memory and stack that are bounded for any depth of nesting. This package may
// change at any time.
package syntax

import (
	"bytes"
	"unicode/utf8"
)

// Problem is the first position at which a text is not well formed. It is in the text or directly after its last
// character.
type Problem struct {
	Line    int    // from 1; lines end with a line feed
	Column  int    // from 1, in code points; a byte order mark is none
	Message string // what is wrong, without a full stop
}

var bom = []byte("\xef\xbb\xbf")

// problem returns the problem at an offset of text. A problem in the white space at the end of the text is reported
// after its last character.
func problem(text []byte, offset int, message string) *Problem {
	offset = min(max(offset, 0), len(bytes.TrimRight(text, " \t\r\n")))
	for offset > 0 && offset < len(text) && !utf8.RuneStart(text[offset]) {
		offset--
	}
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	line := 1 + bytes.Count(text[:start], []byte{'\n'})
	before := text[start:offset]
	if start == 0 {
		before = bytes.TrimPrefix(before, bom)
	}
	return &Problem{Line: line, Column: 1 + utf8.RuneCount(before), Message: message}
}

// conflict returns the problem of a text with merge conflicts, or nil. It is called only if parsing failed.
func conflict(text []byte) *Problem {
	if !bytes.Contains(text, []byte(">>>>>>>")) {
		return nil
	}
	at := 0
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) {
			return problem(text, at, "unresolved merge conflict")
		}
		at += len(line)
	}
	return nil
}

// lineAt returns the line at an offset, without its ending, and the offset of its start.
func lineAt(text []byte, offset int) (line []byte, start int) {
	offset = min(offset, len(text))
	start = bytes.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ = bytes.Cut(text[start:], []byte{'\n'})
	return bytes.TrimRight(line, "\r"), start
}

// ignorePanic turns a panic of a parser into success: a defect of the parser is not an error of the file, and must not
// keep other files from being checked.
func ignorePanic(message *string) {
	if recover() != nil {
		*message = ""
	}
}
