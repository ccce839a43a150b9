package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// TestO10Panic checks SPEC O10: a panic of skillpm is not a denial: its exit code is that of an error.
func TestO10Panic(t *testing.T) {
	var errs bytes.Buffer
	system := environ.Environment{Stdin: broken{}, Stdout: broken{}, Stderr: &errs, Paths: scope.Paths{Home: t.TempDir()}, Dir: t.TempDir(), Now: time.Now, Getenv: func(string) string { return "" }}
	if code := Run(system, []string{"hook", "--help"}); code != diag.Internal || !strings.Contains(errs.String(), "internal error in skillpm") {
		t.Errorf("exit %d: %s", code, &errs)
	}
}

// broken panics on every use.
type broken struct{}

func (broken) Read([]byte) (int, error)  { panic("read") }
func (broken) Write([]byte) (int, error) { panic("write") }

var _ io.ReadWriter = broken{}
