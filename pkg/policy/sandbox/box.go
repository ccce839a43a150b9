package sandbox

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
)

// ChildCommand is the argument that the helper is started with. See [Enter].
const ChildCommand = "sandbox-exec"

// UnavailableError says that this machine cannot confine a command as it should be.
type UnavailableError struct{ Why string }

// Error says what is missing.
func (e *UnavailableError) Error() string { return "it can't be confined on this machine: " + e.Why }

// Code is Denied: what is to be confined does not run unconfined.
func (e *UnavailableError) Code() diag.Code { return diag.Denied }

// Hint says how it would run.
func (e *UnavailableError) Hint() string {
	return "skillpm doctor says what is missing; a policy with execution: {unavailable: allow} lets it run unconfined"
}

func unavailable(format string, args ...any) error {
	return &UnavailableError{Why: fmt.Sprintf(format, args...)}
}
