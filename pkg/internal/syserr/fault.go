// Package syserr says what to do about errors of the machine: a disk that is full, read-only or broken, a file that may
// not be read or written, too many open ones. It asks the system nothing; it only knows the names of its errors.
package syserr

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
)

const (
	leadsOut = "a link leads out of the directory"
	linkHint = "replace the link with a file or a directory"
)

// Of returns the code of an error of the machine and a hint that says what to do about it; ok is false for other
// errors.
func Of(err error) (code diag.Code, hint string, ok bool) {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return diag.Internal, "free space on the file system, for example with \"skillpm cache gc\", " +
			"then run the command again", true
	case errors.Is(err, syscall.EFBIG):
		return diag.Internal,
			"raise the limit on file sizes with \"ulimit -f\", or use a file system that allows larger files", true
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return diag.Internal, "raise the limit on open files, for example with: ulimit -n 1024", true
	case errors.Is(err, syscall.EIO):
		return diag.Internal, "check the disk and the system log, then run the command again", true
	case errors.Is(err, syscall.ENOTDIR):
		return diag.Internal, "move the file away that has the name of a directory in the path", true
	case errors.Is(err, syscall.ELOOP):
		return diag.Invalid, linkHint, true
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return diag.Denied, "grant yourself read and write access to the path, " +
			"or set XDG_CACHE_HOME to move the cache; then run the command again", true
	}
	return diag.Internal, "", false
}

// escapes returns the error of an [os.Root] that did not follow a link out of its directory. Package os does not export
// that error.
func escapes(err error) (failed *fs.PathError, ok bool) {
	failed, ok = errors.AsType[*fs.PathError](err)
	return failed, ok && failed.Err.Error() == "path escapes from parent"
}

// Reason returns why a file cannot be used, without its path.
func Reason(err error) string {
	failed, link := escapes(err)
	switch {
	case link:
		return leadsOut
	case failed != nil:
		return failed.Err.Error()
	}
	return err.Error()
}

// Explain gives an error of the machine, or of a link that leads out of a directory, a hint and a code. The error names
// the file already. A hint or a code that an error has stays; other errors, and nil, come back as they are.
func Explain(err error) error {
	if err == nil || diag.HintOf(err) != "" {
		return err
	}
	code, hint, ok := Of(err)
	if failed, link := escapes(err); link {
		text := strings.Replace(err.Error(), failed.Error(), failed.Path+": "+leadsOut, 1)
		err = diag.Errorf(diag.CodeOf(err), "%s", text)
		code, hint, ok = diag.Invalid, linkHint, true
	}
	if !ok {
		return err
	}
	if had := diag.CodeOf(err); had != diag.Internal {
		code = had
	}
	return diag.Errorf(code, "%w", err).WithHint("%s", hint)
}
