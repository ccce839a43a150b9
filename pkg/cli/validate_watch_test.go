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

// TestWatch checks that --watch reports, reports again when a file changes, shows errors in between, and ends with the
// context. Its own reports do not count as changes, even if it writes them into a watched directory.
func TestWatch(t *testing.T) {
	testWatch(t, nil, "no findings in 1 skill", "error REF001: missing.md does not exist")
}

// TestWatchNDJSON checks that with --format ndjson, each report is a line.
func TestWatchNDJSON(t *testing.T) {
	testWatch(t, []string{"--format", "ndjson"}, `{"schemaVersion":1,"ok":true,`, `{"schemaVersion":1,"ok":false,`)
}

// testWatch watches with flags, and requires reports that contain valid and invalid.
func testWatch(t *testing.T, flags []string, valid, invalid string) {
	dir := t.TempDir()
	file := filepath.Join(dir, "deploy", "SKILL.md")
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const good = "---\nname: deploy\ndescription: Rolls a service out.\n---\nText\n"
	write(good)
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
		ended <- Execute(ctx, sys, append([]string{"validate", "--watch", "--output", "report.json"}, flags...))
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
	await(valid)
	write(good + "[a](missing.md)\n")
	await(invalid)
	write(good)
	await(valid)
	cancel()
	if code := <-ended; code != diag.Interrupted {
		t.Errorf("exit code %d, want %d: %s", code, diag.Interrupted, errs.String())
	}
	if strings.Contains(errs.String(), "report.json") {
		t.Errorf("the report's own file is told as a change: %s", errs.String())
	}
}
