package console

import (
	"errors"
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/environ"
)

// describe returns the text of an error. It writes a report about a panic to a file, and names the file.
func describe(env environ.Environment, err error) string {
	text := env.Secrets.Redact(err.Error())
	p, ok := errors.AsType[*bug.Panic](err)
	if !ok {
		return text
	}
	path, err := p.Write(BuildVersion(env.Version), env.Secrets.Redact)
	if err != nil {
		return fmt.Sprintf("%s; cannot write a report: %v", text, err)
	}
	return text + "; report: " + path
}

// Recover ends a process whose command panicked while it printed, or before it started, with one line and the exit code
// of an internal error.
func Recover(env environ.Environment, code *diag.Code) {
	if p := recover(); p != nil {
		*code = Failed(env, bug.New(p))
	}
}

// Failed prints the error of a process whose command cannot do that, and returns the exit code.
func Failed(env environ.Environment, err error) diag.Code {
	fmt.Fprintf(env.Stderr, "error: %s\n", Printable(describe(env, err)))
	return diag.CodeOf(err)
}
