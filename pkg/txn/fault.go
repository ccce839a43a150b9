package txn

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
)

// fault returns the code of an error of the disk and what to do about it, "" for other errors.
func fault(err error) (code diag.Code, hint string) {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return diag.Internal, "make room on the file system of that path, and run the command again"
	case errors.Is(err, syscall.EFBIG):
		return diag.Internal, "the system allows no file of that size: look at ulimit -f and the file system"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return diag.Internal, "too many files are open: raise the limit, as with: ulimit -n 1024"
	case errors.Is(err, syscall.EIO):
		return diag.Internal, "the disk reports a fault: look at the system's log before you go on"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return diag.Denied, "make that path writable for you, and run the command again"
	}
	return diag.Internal, ""
}

// explain gives errors of the disk a hint, and the root where they name a path relative to it.
func explain(root string, err error) error {
	code, hint := fault(err)
	if hint == "" || diag.HintOf(err) != "" {
		return err
	}
	if !strings.Contains(err.Error(), root) {
		err = fmt.Errorf("in %s: %w", root, err)
	}
	return diag.Errorf(code, "%w", err).WithHint("%s", hint)
}
