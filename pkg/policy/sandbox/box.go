package sandbox

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
)

// ChildCommand is the argument that starts the helper. See [Enter].
const ChildCommand = "sandbox-exec"

// UnavailableError reports that this machine cannot confine a command.
type UnavailableError struct{ Why string }

// Error says what is missing.
func (e *UnavailableError) Error() string { return "this machine cannot confine commands: " + e.Why }

// Code is Denied, because a command that must be confined does not run unconfined.
func (e *UnavailableError) Code() diag.Code { return diag.Denied }

// Hint explains how the command could run.
func (e *UnavailableError) Hint() string {
	return "run \"skillpm doctor\" for details; a policy with execution: {unavailable: allow} lets it run unconfined"
}

func unavailable(format string, args ...any) error {
	return &UnavailableError{Why: fmt.Sprintf(format, args...)}
}
