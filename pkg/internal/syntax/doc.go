// Package syntax says whether the text of a shell script, a JSON file or a YAML file is well formed.
//
// It finds what keeps a program from reading the file, and nothing about what the file means. Skills carry files that
// are not meant to be read as they are: templates with placeholders, and JSON with comments for the tools that allow
// them. What is known to be such a file, or seems to be one at the place where reading ends, is no problem here: a
// linter that cries wolf is turned off. Only the first problem of a file is reported, since what follows it is
// guesswork.
//
// Every function takes linear time, and memory and stack that do not grow without bound with how deep the text nests.
package syntax

import (
	"bytes"
	"unicode/utf8"
)

// Problem is the first place at which a text is not well formed. It lies in the text or directly after its last
// character.
type Problem struct {
	Line    int    // from 1; lines end with a line feed
	Column  int    // from 1, in code points; a byte order mark is none
	Message string // what is wrong, without a full stop
}

var bom = []byte("\xef\xbb\xbf")

// problem returns the problem at an offset of text. What lies in the white space at the end of the text is reported
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

// conflict returns the problem of a text that git could not merge, or nil. It is asked once something is wrong anyway.
func conflict(text []byte) *Problem {
	if !bytes.Contains(text, []byte(">>>>>>>")) {
		return nil
	}
	at := 0
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) {
			return problem(text, at, "a merge conflict that is not resolved")
		}
		at += len(line)
	}
	return nil
}

// lineAt returns the line that an offset lies in, without its end, and the offset of its start.
func lineAt(text []byte, offset int) (line []byte, start int) {
	offset = min(offset, len(text))
	start = bytes.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ = bytes.Cut(text[start:], []byte{'\n'})
	return bytes.TrimRight(line, "\r"), start
}

// forgive ends a panic of a parser as if there were nothing to say: a defect of the parser is none of the file's, and
// must not keep the other files from being checked.
func forgive(message *string) {
	if recover() != nil {
		*message = ""
	}
}
