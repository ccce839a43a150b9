//go:build unix

package git_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/source/git"
)

// When its context ends, the program is killed, and so is what it has started: the pipe that they hold comes to its end.
func TestProgramIsKilled(t *testing.T) {
	dir := t.TempDir()
	pipe, script := filepath.Join(dir, "pipe"), filepath.Join(dir, "git")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\nexec 3>" + pipe + "\necho started >&3\nsleep 1000 &\nwait\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, ref := newClient(t, git.Options{Program: script}), parse(t, "git+http://127.0.0.1:1/o/r.git")
	done := make(chan error, 1)
	go func() {
		_, err := c.Open(ctx, ref)
		done <- err
	}()
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	if line, err := r.ReadString('\n'); line != "started\n" {
		t.Fatal(line, err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}
