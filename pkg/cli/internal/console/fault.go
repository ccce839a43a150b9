package console

import (
	"errors"
	"io"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Output is standard output. It remembers the first write error, so that a command with lost output fails.
type Output struct {
	io.Writer
	err error
}

func (o *Output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Checked returns the error of a command, or else that of its output.
func (o *Output) Checked(err error) error {
	if o.err == nil {
		return err
	}
	code := diag.CodeOf(err)
	if _, reported := errors.AsType[Reported](err); reported && errors.Is(o.err, syscall.EPIPE) {
		return err // the reader, for example head, has ended
	}
	if _, reported := errors.AsType[Reported](err); err != nil && !reported {
		return err
	} else if err == nil {
		code = diag.Internal
	}
	return diag.Errorf(code, "what the command did is done, but its result can't be written: %w", o.err)
}
