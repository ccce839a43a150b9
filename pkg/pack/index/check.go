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

// Problem is one thing that is wrong with a file of an index. Lines and columns count from 1, columns in characters; 0
// means that the problem is about the file as a whole.
type Problem struct {
	Line, Column int
	Message      string // one sentence without a full stop
	Hint         string // how to mend it, or ""
}

// maxProblems is how many problems of one file are told apart.
const maxProblems = 1000

// Check returns everything that is wrong with a pack's file, in order of the places; path is how messages call it. It
// finds what [Parse] refuses, and also what makes a version that was read unusable: a place that an index cannot point
// to, names that no skill or pack can have, ranges of versions that are none, an integrity that is not that of the
// skills.
func Check(path string, data []byte) []Problem {
	if len(data) > MaxBytes {
		return []Problem{{Message: tooLarge(path).Error()}}
	}
	p := parser{path: path, at: make(map[string]int), strict: true}
	var list []Problem
	for n, raw := range lines(data) {
		if len(list) >= maxProblems {
			break
		}
		first := len(list)
		for at, err := range p.line(raw) {
			list = append(list, newProblem(n, raw, at.in(raw), err))
		}
		slices.SortStableFunc(list[first:], func(a, b Problem) int { return cmp.Compare(a.Column, b.Column) })
	}
	if p.entry.ID.IsZero() && len(list) == 0 {
		list = append(list, Problem{Message: "the file has no version"})
	}
	return list
}

// newProblem places an error on a byte of a line.
func newProblem(line int, raw []byte, offset int, err error) Problem {
	return Problem{
		Line: line, Column: utf8.RuneCount(raw[:offset]) + 1,
		Message: err.Error(), Hint: diag.HintOf(err),
	}
}

// CheckConfig returns everything that is wrong with the config.json of an index.
func CheckConfig(name string, data []byte) []Problem {
	place := func(offset int, err error) []Problem {
		offset = min(offset, len(data))
		start := bytes.LastIndexByte(data[:offset], '\n') + 1
		return []Problem{newProblem(bytes.Count(data[:start], []byte("\n"))+1, data[start:], offset-start, err)}
	}
	var c Config
	if err := json.Unmarshal(data, &c); err != nil {
		return place(whereJSON(data, err), plain(err))
	}
	if offset, err := checkKeys(data); err != nil {
		return place(offset, err)
	}
	if err := c.check(); err != nil {
		return place(spot{steps: []any{"version"}}.in(data), err)
	}
	return nil
}

// whereJSON returns the offset of the byte that an error of package json is about.
func whereJSON(raw []byte, err error) int {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if strings.Contains(syntax.Error(), "end of JSON") {
			return len(raw)
		}
		return max(0, min(int(syntax.Offset)-1, len(raw)))
	}
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typed.Field != "" {
		return spot{steps: []any{typed.Field}}.in(raw)
	}
	return 0
}
