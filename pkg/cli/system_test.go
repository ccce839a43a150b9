package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// TestSystemReachesTheVerbs checks that commands act on the invocation's system: if links are not available, agents get
// copies.
func TestSystemReachesTheVerbs(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("this pretends to be on Windows")
	}
	for _, tt := range []struct {
		os     string
		linked bool
	}{{"linux", true}, {"windows", false}} {
		dir, home := t.TempDir(), t.TempDir()
		var out, errs bytes.Buffer
		sys := environ.Environment{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: dir, Paths: scope.Paths{Home: home}, OS: tt.os, Now: time.Now,
			Getenv: func(name string) string {
				return map[string]string{"APPDATA": home, "LOCALAPPDATA": home}[name]
			},
		}
		if code := Execute(t.Context(), sys, []string{"install", "acme/kubectl-basics"}); code != diag.OK {
			t.Fatalf("%s: exit %d: %s", tt.os, code, &errs)
		}
		info, err := os.Lstat(filepath.Join(dir, ".agents", "skills", "kubectl-basics"))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode()&os.ModeSymlink != 0; got != tt.linked {
			t.Errorf("%s: link %v, want %v", tt.os, got, tt.linked)
		}
	}
}

// TestWriteJSON checks that no control or format character is written raw, and that the document means the same.
func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	if err := console.WriteJSON(&b, "a\u009b\u202e\U000e0041<ü"); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), `"a\u009b\u202e\udb40\udc41<ü"`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
