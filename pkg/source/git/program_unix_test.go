//go:build unix

package git_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// TestProgramIsKilled checks that when the context ends, the program and its children are killed: the pipe that they
// hold is closed.
func TestProgramIsKilled(t *testing.T) {
	dir := t.TempDir()
	pipe, script := filepath.Join(dir, "pipe"), filepath.Join(dir, "git")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\nexec 3>" + pipe + "\necho started >&3\nsleep 1000 &\nwait\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil { //nolint:gosec // it is executable
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

// TestProgramEnvironment checks that Git receives only the variables that it needs, from the environment of the client
// and not of the process.
func TestProgramEnvironment(t *testing.T) {
	dir := t.TempDir()
	seen, script := filepath.Join(dir, "seen"), filepath.Join(dir, "git")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nenv >"+seen+"\n"), 0o755); err != nil { //nolint:gosec // it is executable
		t.Fatal(err)
	}
	t.Setenv("HTTPS_PROXY", "http://proxy-of-the-process.example")
	t.Setenv("SSH_AUTH_SOCK", "/of/the/process")
	t.Setenv("USER", "of-the-process")
	variables := map[string]string{
		"PATH": os.Getenv("PATH") + ":/given", "SSH_AUTH_SOCK": "/given/agent", "https_proxy": "http://proxy.example", "NO_PROXY": "given.example",
		"SSL_CERT_FILE": "/given/certificates", "GIT_SSH_COMMAND": "ssh -F of-the-user", "GIT_CONFIG_PARAMETERS": "'core.pager=evil'", "SECRET": "evil",
	}
	home := t.TempDir()
	for place, wantHome := range map[string]string{"ssh://git@git.example/o/r.git": home, "http://127.0.0.1:1/o/r.git": ""} {
		c := newClient(t, git.Options{Program: script, Home: home, Getenv: func(name string) string { return variables[name] }})
		_, err := c.Open(t.Context(), parse(t, "git+"+place))
		checkError(t, err, diag.NotFound, "is empty", "")
		data, err := os.ReadFile(seen)
		if err != nil {
			t.Fatal(err)
		}
		env := make(map[string]string)
		for line := range strings.Lines(string(data)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			env[name] = value
		}
		for _, name := range []string{"PATH", "SSH_AUTH_SOCK", "https_proxy", "NO_PROXY", "SSL_CERT_FILE"} {
			if env[name] != variables[name] {
				t.Errorf("%s: %s is %q, want %q", place, name, env[name], variables[name])
			}
		}
		for _, name := range []string{"HTTPS_PROXY", "USER", "GIT_CONFIG_PARAMETERS", "SECRET"} {
			if value, ok := env[name]; ok {
				t.Errorf("%s: %s is %q", place, name, value)
			}
		}
		if wantHome != "" && env["HOME"] != wantHome || wantHome == "" && env["HOME"] == home {
			t.Errorf("%s: HOME is %q", place, env["HOME"])
		}
		want := map[bool]string{true: "ssh -F of-the-user"}[wantHome != ""] // the user's own, and only for SSH
		if env["GIT_SSH_COMMAND"] != want {
			t.Errorf("%s: GIT_SSH_COMMAND is %q, want %q", place, env["GIT_SSH_COMMAND"], want)
		}
	}
}

// TestSSHConfigCanceled checks that what an ssh command started to read its configuration ends with the context.
func TestSSHConfigCanceled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	started := filepath.Join(home, "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(home, "ssh.sh")
	text := "#!/bin/sh\nsleep 1000 &\necho >'" + started + "'\nwait\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil { //nolint:gosec // it is executable
		t.Fatal(err)
	}
	env := map[string]string{"PATH": os.Getenv("PATH"), "GIT_SSH_COMMAND": script}
	c := newClient(t, git.Options{Home: home, Getenv: func(name string) string { return env[name] }})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(started) // waits for the script
		cancel()
	}()
	if _, err := c.Open(ctx, parse(t, "git+ssh://127.0.0.1:1/o/r.git")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
