package syserr_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
)

func TestExplain(t *testing.T) {
	disk := func(err error) error {
		return fmt.Errorf("in x: %w", &fs.PathError{Op: "write", Path: "x/y", Err: err})
	}
	for _, tt := range []struct {
		name string
		err  error
		code diag.Code
		hint string // part of it
	}{
		{"full", disk(syscall.ENOSPC), diag.Internal, "free space"},
		{"over quota", disk(syscall.EDQUOT), diag.Internal, "free space"},
		{"too large", disk(syscall.EFBIG), diag.Internal, "ulimit -f"},
		{"too many files", disk(syscall.EMFILE), diag.Internal, "ulimit -n"},
		{"too many files of all", disk(syscall.ENFILE), diag.Internal, "ulimit -n"},
		{"broken", disk(syscall.EIO), diag.Internal, "log"},
		{"read-only", disk(syscall.EROFS), diag.Denied, "write access"},
		{"forbidden", disk(syscall.EACCES), diag.Denied, "write access"},
		{"not permitted", disk(fs.ErrPermission), diag.Denied, "write access"},
		{"a file above", disk(syscall.ENOTDIR), diag.Internal, "move the file"},
		{"a link to itself", disk(syscall.ELOOP), diag.Invalid, "replace the link"},
		{"one of many", errors.Join(errors.New("x"), disk(syscall.ENOSPC)), diag.Internal, "free space"},
		{"of that kind already", diag.Errorf(diag.Integrity, "%w", disk(syscall.EIO)), diag.Integrity, "log"},
		{"with a hint", diag.Errorf(diag.Remote, "%w", disk(syscall.ENOSPC)).WithHint("call us"), diag.Remote, "call us"},
		{"stopped meanwhile", errors.Join(context.Canceled, disk(syscall.ENOSPC)), diag.Interrupted, "free space"},
		{"not there", disk(syscall.ENOENT), diag.Internal, ""},
		{"closed", os.ErrClosed, diag.Internal, ""},
		{"none", nil, diag.OK, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := syserr.Explain(tt.err)
			hint := diag.HintOf(got)
			if !errors.Is(got, tt.err) || diag.CodeOf(got) != tt.code || !strings.Contains(hint, tt.hint) || (hint == "") != (tt.hint == "") {
				t.Errorf("got %v (%v, hint %q), want %v, %q", got, diag.CodeOf(got), hint, tt.code, tt.hint)
			}
			if tt.err != nil && got.Error() != tt.err.Error() {
				t.Errorf("the message became %q", got)
			}
		})
	}
}

// TestExplainLink checks the error of a link that leads out of a directory.
func TestExplainLink(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, outside := root.Open("../x")
	got := syserr.Explain(fmt.Errorf("in y: %w", outside))
	if got.Error() != "in y: ../x: a link leads out of the directory" || diag.CodeOf(got) != diag.Invalid || diag.HintOf(got) == "" {
		t.Errorf("got %v (%v, %q)", got, diag.CodeOf(got), diag.HintOf(got))
	}
	if got := syserr.Explain(diag.Errorf(diag.Denied, "%w", outside)); diag.CodeOf(got) != diag.Denied {
		t.Errorf("the code became %v", diag.CodeOf(got))
	}
}
