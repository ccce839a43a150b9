package store

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
)

// explain gives errors of the disk, which name the file already, a hint that says what to do.
func explain(err error) error {
	if err == nil || diag.HintOf(err) != "" {
		return err
	}
	var hint string
	code := diag.Internal
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "make room on the file system of that path, as with: skillpm cache gc"
	case errors.Is(err, syscall.EFBIG):
		hint = "the system allows no file of that size: look at ulimit -f and the file system"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		hint = "too many files are open: raise the limit, as with: ulimit -n 1024"
	case errors.Is(err, syscall.EIO):
		hint = "the disk reports a fault: look at the system's log before you go on"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		code, hint = diag.Denied, "make that path writable for you; the cache can be elsewhere: set XDG_CACHE_HOME"
	default:
		return err
	}
	return diag.Errorf(code, "%w", err).WithHint("%s", hint)
}
