package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// TestO20SkillsWatch checks that skills --watch lists the skills again when they change, and ends with the context.
func TestO20SkillsWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, description string) {
		t.Helper()
		at := filepath.Join(dir, ".agents", "skills", name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		text := "---\nname: " + name + "\ndescription: " + description + "\n---\n"
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("deploy", "First.")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, in := io.Pipe()
	var errs bytes.Buffer
	sys := environ.Environment{
		Stdin: strings.NewReader(""), Stdout: in, Stderr: &errs, Getenv: func(string) string { return "" },
		Dir: dir, Paths: scope.Paths{Home: t.TempDir()}, OS: runtime.GOOS, Now: time.Now,
	}
	ended := make(chan diag.Code, 1)
	go func() {
		ended <- Execute(ctx, sys, []string{"skills", "--watch"})
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	await := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the output ended without %q", want)
	}
	await("First.")
	write("deploy", "Second.")
	await("Second.")
	write("review", "Another.")
	await("Another.")
	cancel()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if code := <-ended; code != diag.Interrupted {
		t.Errorf("exit code %d, want %d: %s", code, diag.Interrupted, errs.String())
	}
}
