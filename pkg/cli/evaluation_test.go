package cli

import (
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

// TestInterruptedEvaluation checks that an interrupted evaluation reports its finished runs, and nothing else.
func TestInterruptedEvaluation(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the agent is a shell script")
	}
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	for name, text := range map[string]string{
		"greet/SKILL.md":         "---\nname: greet\ndescription: Greets users.\n---\nGreet.\n",
		"greet/evals/evals.json": `[{"prompt": "hello", "graders": [{"type": "exact", "text": "hi"}]}]`,
		"agent":                  "#!/bin/sh\n: >'" + started + "'\nexec sleep 600\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var errs bytes.Buffer
	sys := environ.Environment{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &errs, Getenv: os.Getenv, Environ: os.Environ,
		Dir: dir, Paths: scope.Paths{Home: t.TempDir(), Cache: t.TempDir()}, OS: runtime.GOOS, Now: time.Now,
	}
	ended := make(chan diag.Code, 1)
	go func() { ended <- Execute(ctx, sys, []string{"test", "greet", "--agent", "./agent"}) }()
	for {
		if _, err := os.Stat(started); err == nil {
			break
		}
		select {
		case code := <-ended:
			t.Fatalf("exit code %d before the agent started: %s", code, errs.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	cancel()
	if code := <-ended; code != diag.Interrupted {
		t.Errorf("exit code %d, want %d", code, diag.Interrupted)
	}
	got := errs.String()
	if !strings.Contains(got, "interrupted; 0 runs are finished") || strings.Contains(got, "no changes were made") {
		t.Errorf("standard error is %q", got)
	}
}
