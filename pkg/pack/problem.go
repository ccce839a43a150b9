package pack

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxProblems is how many problems of one file are told apart. A file with more is no manifest.
const maxProblems = 1000

// Problem is one thing that is wrong with a file. Lines and columns count from 1, columns in characters; 0 means that
// the problem is about the line, or the file, as a whole.
type Problem struct {
	Line, Column int
	Message      string // one sentence without a full stop
	Hint         string // how to mend it, or ""
}

// CheckManifest reads a manifest as [ParseManifest] does, and goes on where that stops: it returns everything that is
// wrong, in order of the places, and what the rest of the file says. The manifest is nil only where nothing can be
// read.
func CheckManifest(path string, data []byte) (*Manifest, []Problem) {
	r := reader{path: path, notes: &notes{}}
	m, err := r.manifest(data)
	return m, r.problems(err)
}

// CheckLock reads a lock as [ParseLock] does, and returns everything that is wrong with it; see [CheckManifest].
func CheckLock(path string, data []byte) (*Lock, []Problem) {
	r := reader{path: path, notes: &notes{whole: true}}
	l, err := r.lock(data)
	return l, r.problems(err)
}

// CheckConfig reads a configuration as [ParseConfig] does, and returns everything that is wrong with it; see
// [CheckManifest].
func CheckConfig(path string, data []byte) (*Config, []Problem) {
	r := reader{path: path, notes: &notes{}}
	c, err := r.config(data)
	return c, r.problems(err)
}

// notes are what a reader that goes on after a problem remembers.
type notes struct {
	found  []error
	spoilt map[*yaml.Node]bool // nodes about which all was said
	whole  bool                // nothing is read of a file that is not YAML
}

// errNoted stops the reading of a file whose problems are noted.
var errNoted = errors.New("the problems are noted")

// note takes down a problem, so that reading goes on. It returns the problem where reading ends with it: at the first
// one, unless notes are taken, and where there are too many.
func (r reader) note(err error) error {
	if err == nil || r.notes == nil || len(r.notes.found) >= maxProblems {
		return err
	}
	r.notes.found = append(r.notes.found, err)
	if len(r.notes.found) == maxProblems {
		return errNoted
	}
	return nil
}

// noted returns how many problems there are so far.
func (r reader) noted() int {
	if r.notes == nil {
		return 0
	}
	return len(r.notes.found)
}

// spoil says that nothing more is to be said about a node.
func (r reader) spoil(n *yaml.Node) {
	if r.notes == nil {
		return
	}
	if r.notes.spoilt == nil {
		r.notes.spoilt = make(map[*yaml.Node]bool)
	}
	r.notes.spoilt[n] = true
}

func (r reader) spoilt(n *yaml.Node) bool { return r.notes != nil && r.notes.spoilt[n] }

// problems returns what was noted, and the error that reading ended with.
func (r reader) problems(end error) []Problem {
	if end != nil && !errors.Is(end, errNoted) {
		r.notes.found = append(r.notes.found, end)
	}
	var list []Problem
	for _, err := range r.notes.found {
		list = append(list, problemOf(err))
	}
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return list
}

func problemOf(err error) Problem {
	p := Problem{Message: err.Error(), Hint: diag.HintOf(err)}
	if f, ok := errors.AsType[*fault](err); ok {
		p.Line, p.Column, p.Message = f.line, f.column, cmp.Or(f.plainly, f.err.Error())
		if f.whole {
			p.Message = "the file " + p.Message
		}
	}
	if e, ok := errors.AsType[*IntegrityError](err); ok {
		p.Line, p.Column, p.Message = e.Line, e.column, e.message()
	}
	return p
}

// fault is an error about a place in a file: a line and a column, or 0 for what is not known.
type fault struct {
	path         string
	line, column int
	err          *diag.Error
	plainly      string // what a list of problems says instead, where err is in the words of a library
	whole        bool   // err has the file for its subject
}

// errorf returns an error about the place of n.
func (r reader) errorf(n *yaml.Node, format string, args ...any) *fault {
	return &fault{path: r.path, line: n.Line, column: n.Column, err: diag.Errorf(diag.Invalid, format, args...)}
}

// fileError returns an error about the file as a whole.
func (r reader) fileError(format string, args ...any) *fault {
	return &fault{path: r.path, whole: true, err: diag.Errorf(diag.Invalid, format, args...)}
}

// WithHint returns a copy with a hint.
func (f *fault) WithHint(format string, args ...any) *fault {
	c := *f
	c.err = f.err.WithHint(format, args...)
	return &c
}

// Error starts with the place. About a file as a whole it is a sentence with the file for its subject.
func (f *fault) Error() string {
	if f.whole {
		return f.path + " " + f.err.Error()
	}
	return f.place() + ": " + f.err.Error()
}

// Unwrap returns the error without its place.
func (f *fault) Unwrap() error { return f.err }

// Code is the error's own.
func (f *fault) Code() diag.Code { return f.err.Code() }

// Hint says how to go on, or is "".
func (f *fault) Hint() string { return f.err.Hint() }

func (f *fault) place() string {
	switch {
	case f.line == 0:
		return f.path
	case f.column == 0:
		return fmt.Sprintf("%s:%d", f.path, f.line)
	default:
		return fmt.Sprintf("%s:%d:%d", f.path, f.line, f.column)
	}
}
