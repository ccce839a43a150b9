// Package syserr says what to do about errors of the machine: a disk that is full, read-only or broken, a file that may
// not be read or written, too many open ones. It asks the system nothing; it only knows the names of its errors.
package syserr

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Of returns the code of an error of the machine and a hint that says what to do about it; ok is false for other
// errors.
func Of(err error) (code diag.Code, hint string, ok bool) {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return diag.Internal, "make room on the file system of that path, as with skillpm cache gc, and run the " +
			"command again", true
	case errors.Is(err, syscall.EFBIG):
		return diag.Internal, "the system allows no file of that size: look at ulimit -f and the file system", true
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return diag.Internal, "too many files are open: raise the limit, as with: ulimit -n 1024", true
	case errors.Is(err, syscall.EIO):
		return diag.Internal, "the disk reports a fault: look at the system's log before you go on", true
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return diag.Denied, "make that path readable and writable for you, and run the command again; " +
			"if it is the cache's, it can be elsewhere: set XDG_CACHE_HOME", true
	}
	return diag.Internal, "", false
}

// Explain gives an error of the machine, which names the file already, the hint and the code of [Of]. A hint or a code
// that an error has stays; other errors, and nil, come back as they are.
func Explain(err error) error {
	if err == nil || diag.HintOf(err) != "" {
		return err
	}
	code, hint, ok := Of(err)
	if !ok {
		return err
	}
	if had := diag.CodeOf(err); had != diag.Internal {
		code = had
	}
	return diag.Errorf(code, "%w", err).WithHint("%s", hint)
}
