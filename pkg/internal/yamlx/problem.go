package yamlx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxProblems is the number of problems that are kept for one file.
const maxProblems = 1000

// Problem is one error in a file. Lines and columns count from 1, columns in characters; 0 means that the problem is
// about the whole line or file.
type Problem struct {
	Line, Column int
	Message      string // one sentence without a full stop
	Hint         string // how to fix it, or ""
}

// Error is a problem as an error with the code Invalid.
type Error struct {
	Path string
	Problem
	err error // wrapped
}

// Error starts with the path and the position. For a problem of the whole file, the path is the subject of the
// sentence.
func (e *Error) Error() string {
	switch rest, aboutFile := strings.CutPrefix(e.Message, "the file "); {
	case e.Line == 0 && aboutFile:
		return e.Path + " " + rest
	case e.Line == 0:
		return e.Path + ": " + e.Message
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Message)
}

// Code returns [diag.Invalid].
func (e *Error) Code() diag.Code { return diag.Invalid }

// Hint returns the hint of the problem.
func (e *Error) Hint() string { return e.Problem.Hint }

// Unwrap returns the error without its position.
func (e *Error) Unwrap() error { return e.err }

// located is an error of another type that knows its position.
type located interface {
	error
	Problem() Problem
}

// report is one problem, as an error and as an entry of a list. They differ if the file is not YAML: the error has the
// message of the YAML library, and the list explains it.
type report struct {
	err     error
	problem Problem
}

// Problems returns the problems of the file, sorted by position.
func (r *Reader) Problems() []Problem {
	var list []Problem
	for _, p := range r.reports {
		list = append(list, p.problem)
	}
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return list
}

// Err returns the first problem, or nil.
func (r *Reader) Err() error {
	switch {
	case r.syntax != nil:
		return r.syntax
	case len(r.reports) > 0:
		return r.reports[0].err
	}
	return nil
}

// Add records a problem of the whole file, or at a position.
func (r *Reader) Add(p Problem) { r.add(&Error{Path: r.path, Problem: p}, p) }

func (r *Reader) add(err error, p Problem) {
	if len(r.reports) < maxProblems {
		r.reports = append(r.reports, report{err, p})
	}
}
