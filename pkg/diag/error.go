// Package diag has errors with exit codes and hints, and findings, which are the results of checks. Start reading at
// [Error] and [Finding].
//
// This package is part of skillpm's embedding API and keeps compatibility. Only the command line prints errors and
// findings. The room has one more package: diag/rule is the table of validation rules.
package diag

import (
	"context"
	"errors"
	"fmt"
)

// Code is a process exit code. The numbers are part of the public interface and are never renumbered.
type Code int

// The exit codes of every command.
const (
	OK          Code = 0   // it worked
	Internal    Code = 1   // a defect in skillpm, or a machine that refused (disk full, no permission)
	Usage       Code = 2   // the command line is wrong
	Invalid     Code = 3   // input was read and is not valid
	NotFound    Code = 4   // a pack, version, skill or file does not exist
	Conflict    Code = 5   // two things exclude each other
	Integrity   Code = 6   // bytes differ from what a digest or the lock promised
	Denied      Code = 7   // a policy or a permission forbids it
	Remote      Code = 8   // a server could not be reached or answered with an error
	Interrupted Code = 130 // the user stopped it
)

// String returns the code's short name, as `--json` reports it.
func (c Code) String() string {
	switch c {
	case OK:
		return "ok"
	case Usage:
		return "usage"
	case Invalid:
		return "invalid"
	case NotFound:
		return "not-found"
	case Conflict:
		return "conflict"
	case Integrity:
		return "integrity"
	case Denied:
		return "denied"
	case Remote:
		return "remote"
	case Interrupted:
		return "interrupted"
	default:
		return "internal"
	}
}

// Error is an error with an exit code and, where there is one, a hint that says what to do next.
type Error struct {
	code      Code
	hint      string
	modelHint *string
	err       error
}

// Errorf returns an error with the given code; the format is that of [fmt.Errorf], %w included.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{code: code, err: fmt.Errorf(format, args...)}
}

// WithHint returns a copy of e with a hint for the user: a sentence without a full stop, or a command to run.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.hint = fmt.Sprintf(format, args...)
	return &c
}

// ForModel returns a copy of e with another hint for a model, see [ModelHintOf].
func (e *Error) ForModel(hint string) *Error {
	c := *e
	c.modelHint = &hint
	return &c
}

// HintForModels returns a copy of e whose hint a model gets, too, although it is a denial.
func (e *Error) HintForModels() *Error { return e.ForModel(e.hint) }

// Error returns the message without the hint.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the error that the message was built from, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return errors.Unwrap(e.err) }

// Code returns the exit code.
func (e *Error) Code() Code { return e.code }

// Hint returns the hint, or "".
func (e *Error) Hint() string { return e.hint }

// ModelHint returns the hint for a model, false if it is that for people.
func (e *Error) ModelHint() (string, bool) {
	if e.modelHint == nil {
		return "", false
	}
	return *e.modelHint, true
}

// CodeOf returns the exit code for err: that of the outermost error in its chain that has a Code method, Interrupted
// for a cancelled context, OK for nil, and Internal for everything else.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	if errors.Is(err, context.Canceled) {
		return Interrupted
	}
	var c interface{ Code() Code }
	if errors.As(err, &c) {
		return c.Code()
	}
	return Internal
}

// HintOf returns the hint of the outermost error in err's chain that has one, or "".
func HintOf(err error) string {
	for err != nil {
		var h interface {
			error
			Hint() string
		}
		if !errors.As(err, &h) {
			return ""
		}
		if s := h.Hint(); s != "" {
			return s
		}
		err = errors.Unwrap(h)
	}
	return ""
}

// askUser is the hint for a model about a denial.
const askUser = "continue without it, or ask the user"

// ModelHintOf returns the hint for a model: that of the outermost error in err's chain with a hint of its own for
// models, else that for people. The hint for people of a denial often is the command that lifts it, so a model never
// gets that.
func ModelHintOf(err error) string {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if m, ok := e.(interface{ ModelHint() (string, bool) }); ok {
			if hint, own := m.ModelHint(); own {
				return hint
			}
		}
	}
	if CodeOf(err) == Denied {
		return askUser
	}
	return HintOf(err)
}

// ModelTextOf returns an error and its hint for a model in one line.
func ModelTextOf(err error) string { return withHint(err, ModelHintOf(err)) }

// TextOf returns an error and its hint in one line, for output without a separate hint.
func TextOf(err error) string { return withHint(err, HintOf(err)) }

func withHint(err error, hint string) string {
	if hint == "" {
		return err.Error()
	}
	return err.Error() + " (" + hint + ")"
}
