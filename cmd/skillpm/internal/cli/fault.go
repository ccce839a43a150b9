package cli

import (
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
)

// output is standard output. It remembers the first error, so that a command whose result did not arrive does not succeed.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// checked returns the error of a command, or that of its output if there is no other to be told.
func (o *output) checked(err error) error {
	if o.err == nil {
		return err
	}
	code := diag.CodeOf(err)
	if _, said := errors.AsType[reported](err); err != nil && !said {
		return err
	} else if err == nil {
		code = diag.Internal
	}
	return diag.Errorf(code, "what the command did is done, but its result can't be written: %w", o.err)
}

// explained gives errors of the machine, which name the file already, a hint that says what to do.
func explained(err error) error {
	if err == nil || diag.HintOf(err) != "" {
		return err
	}
	code := diag.CodeOf(err)
	var hint string
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "make room on the file system of that path, and run the command again"
	case errors.Is(err, syscall.EFBIG):
		hint = "the system allows no file of that size: look at ulimit -f and the file system"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		hint = "too many files are open: raise the limit, as with: ulimit -n 1024"
	case errors.Is(err, syscall.EIO):
		hint = "the disk reports a fault: look at the system's log before you go on"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		hint = "make that path readable and writable for you, and run the command again"
		if code == diag.Internal {
			code = diag.Denied
		}
	default:
		return err
	}
	return diag.Errorf(code, "%w", err).WithHint("%s", hint)
}
