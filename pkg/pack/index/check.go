package index

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Problem is an error in a file of an index. Lines and columns count from 1, columns in characters; they are 0 for a
// problem of the whole file.
type Problem struct {
	Line, Column int
	Message      string // one sentence without a full stop
	Hint         string // how to fix it, or ""
}

// maxProblems is the number of problems of a file that are reported.
const maxProblems = 1000

// Check returns all problems of a pack's file in order of their positions; path is its name in messages. It finds the
// errors of [Parse], and also what makes a version unusable: sources that an index cannot have, illegal names of skills
// and packs, invalid ranges of versions, and an integrity that doesn't match the skills.
func Check(path string, data []byte) []Problem {
	if len(data) > MaxBytes {
		return []Problem{{Message: tooLarge(path).Error()}}
	}
	p := parser{path: path, versions: make(map[string]int), strict: true}
	var list []Problem
	for n, raw := range lines(data) {
		if len(list) >= maxProblems {
			break
		}
		first := len(list)
		for loc, err := range p.line(raw) {
			list = append(list, newProblem(n, raw, loc.offsetIn(raw), err))
		}
		slices.SortStableFunc(list[first:], func(a, b Problem) int { return cmp.Compare(a.Column, b.Column) })
	}
	if p.entry.ID.IsZero() && len(list) == 0 {
		list = append(list, Problem{Message: "the file does not contain a version"})
	}
	return list
}

// newProblem returns a problem at a byte of a line.
func newProblem(line int, raw []byte, offset int, err error) Problem {
	return Problem{
		Line: line, Column: utf8.RuneCount(raw[:offset]) + 1,
		Message: err.Error(), Hint: diag.HintOf(err),
	}
}

// CheckConfig returns all problems of the config.json of an index.
func CheckConfig(name string, data []byte) []Problem {
	problemAt := func(offset int, err error) []Problem {
		offset = min(offset, len(data))
		start := bytes.LastIndexByte(data[:offset], '\n') + 1
		return []Problem{newProblem(bytes.Count(data[:start], []byte("\n"))+1, data[start:], offset-start, err)}
	}
	var c Config
	if err := json.Unmarshal(data, &c); err != nil {
		return problemAt(jsonErrorOffset(data, err), describeJSON(err))
	}
	if offset, err := checkKeys(data); err != nil {
		return problemAt(offset, err)
	}
	if err := c.check(); err != nil {
		return problemAt(at("version").offsetIn(data), err)
	}
	return nil
}

// jsonErrorOffset returns the offset of an error of package json.
func jsonErrorOffset(raw []byte, err error) int {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if strings.Contains(syntax.Error(), "end of JSON") {
			return len(raw)
		}
		return max(0, min(int(syntax.Offset)-1, len(raw)))
	}
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typed.Field != "" {
		return at(typed.Field).offsetIn(raw)
	}
	return 0
}
