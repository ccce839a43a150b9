//go:build slow

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// desk is a machine from an agent's point of view: a home, a project, and skillpm on the PATH. It has no network
// access.
type desk struct {
	t       *testing.T
	home    string
	project string
	skillpm string // the program, of which some agents' shells don't know
	env     []string
}

// newDesk creates an empty desk. Additional environment variables have the form NAME=VALUE.
func newDesk(t *testing.T, environment ...string) *desk {
	t.Helper()
	dir := t.TempDir()
	program := self(t)
	w := &desk{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), skillpm: program}
	for _, d := range []string{w.home, filepath.Join(w.project, ".git")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append([]string{
		"HOME=" + w.home, "PATH=" + filepath.Dir(program) + string(filepath.ListSeparator) + os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
		"NO_COLOR=1", "CI=1", "DO_NOT_TRACK=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	}, environment...)
	return w
}

// run runs a program in the project and returns what it prints to standard output.
func (w *desk) run(line ...string) string {
	w.t.Helper()
	return w.feed("", line...)
}

// feed is run with standard input.
func (w *desk) feed(stdin string, line ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), line[0], line[1:]...)
	if line[0] == "skillpm" { // the PATH is the agent's, not that of this test
		cmd.Path, cmd.Err = w.skillpm, nil
	}
	cmd.Dir, cmd.Env, cmd.Stdin = w.project, w.env, strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("%s: %v\n%s%s", strings.Join(line, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

// write writes a file of the project.
func (w *desk) write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.project, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil { //nolint:gosec // scripts, too
		w.t.Fatal(err)
	}
}

// exists reports whether the project has a file.
func (w *desk) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.project, filepath.FromSlash(name)))
	return err == nil
}
