//go:build unix

package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/diag"
)

// far is a limit that no test reaches unless it hangs.
const far = time.Minute

func shell(line string, more ...string) Command {
	return Command{Argv: append([]string{"sh", "-c", line, "test"}, more...), Env: Environment(os.Getenv, nil), Limit: far}
}

func mustRun(t testing.TB, c Command) *Result {
	t.Helper()
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRun checks SPEC O4: the result has the output and the exit status of the script.
func TestRun(t *testing.T) {
	r := mustRun(t, shell(`echo out; echo err >&2; exit 3`))
	if string(r.Stdout) != "out\n" || string(r.Stderr) != "err\n" || r.ExitCode != 3 {
		t.Errorf("got %q, %q, exit %d", r.Stdout, r.Stderr, r.ExitCode)
	}
	sum := sha256.Sum256([]byte("out\n"))
	if want := "sha256:" + hex.EncodeToString(sum[:]); r.StdoutSum != want || r.StdoutSize != 4 || r.StderrSize != 4 {
		t.Errorf("sum %s of %d and %d bytes, want %s of 4 and 4", r.StdoutSum, r.StdoutSize, r.StderrSize, want)
	}
	if r.Truncated || r.TimedOut || r.Signal != "" || r.Duration <= 0 {
		t.Errorf("truncated %v, timed out %v, signal %q, duration %s", r.Truncated, r.TimedOut, r.Signal, r.Duration)
	}
}

func TestRunArguments(t *testing.T) {
	hostile := []string{"$(touch x)", "; touch x", "a b", `"'`, "", "-rf", "ä\n"}
	r := mustRun(t, shell(`printf '%s|' "$@"`, hostile...))
	if want := strings.Join(hostile, "|") + "|"; string(r.Stdout) != want {
		t.Errorf("got %q, want %q", r.Stdout, want)
	}
}

func TestRunSignal(t *testing.T) {
	r := mustRun(t, shell(`kill -USR1 $$`))
	if r.Signal != "SIGUSR1" || r.ExitCode != 128+int(unix.SIGUSR1) {
		t.Errorf("signal %q, exit %d", r.Signal, r.ExitCode)
	}
}

func TestRunStdin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block, w := io.Pipe() // has nothing to read and no end
	defer w.Close()
	for _, c := range []struct {
		name string
		in   io.Reader
		line string
		want string
	}{
		{"nothing", nil, "cat", ""},
		{"text", strings.NewReader("a text"), "cat", "a text"},
		{"file", f, "cat", "from a file"},
		{"large and not read", bytes.NewReader(make([]byte, 10<<20)), "echo done", "done\n"},
		{"large", bytes.NewReader(make([]byte, 10<<20)), "wc -c | tr -d ' '", "10485760\n"},
		{"without end", block, "echo done", "done\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := shell(c.line)
			cmd.Stdin = c.in
			if r := mustRun(t, cmd); string(r.Stdout) != c.want || r.TimedOut {
				t.Errorf("got %q, want %q; timed out: %v", r.Stdout, c.want, r.TimedOut)
			}
		})
	}
}

// TestD5LimitAsksFirst checks SPEC D5: at the limit the command is asked to end, and may clean up.
func TestD5LimitAsksFirst(t *testing.T) {
	c := shell(`trap 'echo tidy; exit 7' TERM; echo ready; while :; do :; done`)
	c.Limit, c.Grace = time.Second, far
	r := mustRun(t, c)
	if !r.TimedOut || r.ExitCode != 7 || string(r.Stdout) != "ready\ntidy\n" {
		t.Errorf("timed out %v, exit %d, output %q", r.TimedOut, r.ExitCode, r.Stdout)
	}
}

// TestD5LimitAsksAll checks SPEC D5: its child processes may clean up, too, after the command has ended.
func TestD5LimitAsksAll(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere only the command itself is waited for")
	}
	c := shell(`sh -c 'trap "echo tidy; exit" TERM; echo ready; while :; do :; done' & wait`)
	c.Limit, c.Grace = time.Second, far
	if r := mustRun(t, c); !r.TimedOut || string(r.Stdout) != "ready\ntidy\n" {
		t.Errorf("timed out %v, output %q", r.TimedOut, r.Stdout)
	}
}

// TestD5LimitKillsGroup checks SPEC D5: the process group is killed at the limit, with a grandchild that ignores all
// signals.
func TestD5LimitKillsGroup(t *testing.T) {
	c := shell(`trap '' TERM; sh -c 'trap "" TERM; echo $$; while :; do sleep 100; done' & wait; wait`)
	c.Limit, c.Grace = time.Second, 50*time.Millisecond
	r := mustRun(t, c)
	if !r.TimedOut || r.Signal != "SIGKILL" {
		t.Errorf("timed out %v, signal %q", r.TimedOut, r.Signal)
	}
	waitGone(t, r.Stdout)
}

// waitGone requires that the process with the written id has ended.
func waitGone(t *testing.T, output []byte) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(string(output)))
	if err != nil {
		t.Fatalf("no process number: %q", output)
	}
	if alive(pid) {
		_ = unix.Kill(pid, unix.SIGKILL)
		t.Errorf("process %d outlived the command", pid)
	}
}

// alive reports whether a process runs. A zombie does not count.
func alive(pid int) bool {
	if runtime.GOOS == "linux" {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		return fields[0] != "Z" && fields[0] != "X"
	}
	return unix.Kill(pid, 0) == nil
}

// TestRunBackground checks that a background process that has the pipes open delays the end briefly, and is then ended.
func TestRunBackground(t *testing.T) {
	c := shell(`sleep 1000 & echo $!`)
	c.Grace = 50 * time.Millisecond
	r := mustRun(t, c)
	if r.ExitCode != 0 || r.TimedOut {
		t.Errorf("exit %d, timed out %v", r.ExitCode, r.TimedOut)
	}
	waitGone(t, r.Stdout)
}

// TestRunDaemonTidies checks that a daemon that cleans up on request has the time to do so.
func TestRunDaemonTidies(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what is left is only asked on Linux")
	}
	c := shell(`sh -c 'trap "echo tidied > done; exit" TERM; echo > ready; while :; do :; done' >/dev/null 2>&1 &
while [ ! -e ready ]; do :; done`)
	c.Dir, c.Grace = t.TempDir(), far
	mustRun(t, c)
	if _, err := os.Stat(filepath.Join(c.Dir, "done")); err != nil {
		t.Error(err)
	}
}

// TestRunDaemon checks that a daemon without open pipes ends without any delay.
func TestRunDaemon(t *testing.T) {
	c := shell(`sleep 1000 >/dev/null 2>&1 & echo $!`)
	c.Grace = far
	waitGone(t, mustRun(t, c).Stdout)
}

// TestRunDrains checks that the remaining output of a command is read.
func TestRunDrains(t *testing.T) {
	c := shell(`(while [ ! -e go ]; do :; done; echo late) & touch go; echo early`)
	c.Dir, c.Grace = t.TempDir(), far
	if r := mustRun(t, c); !strings.Contains(string(r.Stdout), "late\n") {
		t.Errorf("got %q", r.Stdout)
	}
}

func TestRunFlood(t *testing.T) {
	const size, most = 100 << 20, 64 << 10
	c := shell(`printf begin; head -c 104857600 /dev/zero; printf end`)
	c.MaxOutput = most
	var count counter
	c.Stdout = &count
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := mustRun(t, c)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
	if r.StdoutSize != size+8 || int64(count) != size+8 || !r.Truncated {
		t.Errorf("%d bytes read, %d handed on, truncated %v", r.StdoutSize, count, r.Truncated)
	}
	missing := fmt.Sprintf("\n[%d bytes omitted]\n", size+8-most)
	if n := len(r.Stdout); n != most+len(missing) || !bytes.Contains(r.Stdout, []byte(missing)) {
		t.Errorf("%d bytes kept", n)
	}
	if !bytes.HasPrefix(r.Stdout, []byte("begin")) || !bytes.HasSuffix(r.Stdout, []byte("end")) {
		t.Error("beginning and end were not kept")
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// TestRunBothFull checks that both pipes are read concurrently: a full one does not block the other.
func TestRunBothFull(t *testing.T) {
	r := mustRun(t, shell(`head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2`))
	if r.StdoutSize != 1000000 || r.StderrSize != 2000000 || r.TimedOut {
		t.Errorf("%d and %d bytes, timed out %v", r.StdoutSize, r.StderrSize, r.TimedOut)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

// TestRunClosedOutput checks that a closed reader gets no more output, and that the command gets the same signal as in
// a shell.
func TestRunClosedOutput(t *testing.T) {
	c := shell(`while :; do echo y; done`)
	c.Stdout = broken{}
	if r := mustRun(t, c); r.TimedOut || r.ExitCode == 0 {
		t.Errorf("timed out %v, exit %d", r.TimedOut, r.ExitCode)
	}
}

type stuck chan struct{}

func (s stuck) Write(p []byte) (int, error) {
	<-s
	return len(p), nil
}

func TestRunStuckOutput(t *testing.T) {
	s := make(stuck)
	defer close(s)
	c := shell(`head -c 1000000 /dev/zero; echo never`)
	c.Stdout, c.Limit, c.Grace = s, 100*time.Millisecond, 50*time.Millisecond
	if r := mustRun(t, c); !r.TimedOut {
		t.Error("the command ended though nobody reads")
	}
}

type onWrite func()

func (f onWrite) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

func TestRunCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := shell(`sh -c 'echo $$; exec sleep 1000' & wait`)
	c.Stdout = onWrite(cancel)
	r, err := Run(ctx, c)
	if !errors.Is(err, context.Canceled) || r == nil || r.TimedOut {
		t.Fatalf("%+v, %v", r, err)
	}
	waitGone(t, r.Stdout)
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("a second run: %v", err)
	}
}

func TestRunNotStarted(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "no-program", "some text", 0o755)
	put(t, dir, "forbidden", "#!/bin/sh\n", 0o644)
	put(t, dir, "orphan", "#!/no/such/interpreter\n", 0o755)
	relative := []string{"PATH=" + strings.Join([]string{".", "bin", ""}, string(filepath.ListSeparator))}
	put(t, dir, "here", "#!/bin/sh\n", 0o755)
	for _, c := range []struct {
		name string
		cmd  Command
		code diag.Code
		want string
	}{
		{"nothing", Command{}, diag.Usage, "no command"},
		{"unknown", Command{Argv: []string{"no-such-program"}, Env: Environment(os.Getenv, nil)}, diag.NotFound, "no-such-program is not installed"},
		{"no environment", Command{Argv: []string{"sh"}}, diag.NotFound, "sh is not installed"},
		{"relative PATH", Command{Argv: []string{"here"}, Env: relative, Dir: dir}, diag.NotFound, "here is not installed"},
		{"no directory", Command{Argv: []string{"/bin/sh"}, Dir: filepath.Join(dir, "gone")}, diag.NotFound, "in the directory"},
		{"no program", Command{Argv: []string{filepath.Join(dir, "no-program")}}, diag.Invalid, "does not have a #! line"},
		{"not executable", Command{Argv: []string{filepath.Join(dir, "forbidden")}}, diag.Denied, "permission denied"},
		{"no interpreter", Command{Argv: []string{filepath.Join(dir, "orphan")}}, diag.NotFound, "#! line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(t.Context(), c.cmd)
			if err == nil || diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v (%v), want %q (%v)", err, diag.CodeOf(err), c.want, c.code)
			}
		})
	}
}

func put(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRunLeavesNothing checks that no files stay open after a command.
func TestRunLeavesNothing(t *testing.T) {
	entries := func() int {
		list, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	mustRun(t, shell("true"))
	before := entries()
	for range 50 {
		c := shell("cat")
		c.Stdin = strings.NewReader("x")
		mustRun(t, c)
	}
	if after := entries(); after > before+2 {
		t.Errorf("%d descriptors are open, %d were", after, before)
	}
}

func TestEnvironment(t *testing.T) {
	have := map[string]string{
		"PATH": "/bin:.:relative:/usr/bin:", "HOME": "/home/me", "LANG": "C", "LC_TIME": "de_DE", "TERM": "xterm",
		"AWS_SECRET_ACCESS_KEY": "s3cret", "GITHUB_TOKEN": "s3cret", "SSH_AUTH_SOCK": "/s3cret", "LD_PRELOAD": "/s3cret",
		"HTTPS_PROXY": "http://me:s3cret@proxy", "PYTHONPATH": "s3cret", "NODE_OPTIONS": "s3cret", "BASH_ENV": "s3cret",
	}
	got := Environment(func(n string) string { return have[n] }, map[string]string{"SKILL_NAME": "x", "LANG": "en", "A=B": "no", "C": "a\x00b"})
	want := []string{"HOME=/home/me", "LANG=en", "LC_TIME=de_DE", "NO_COLOR=1", "PATH=/bin:/usr/bin", "PYTHONDONTWRITEBYTECODE=1", "SKILL_NAME=x", "TERM=dumb"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", got, want)
	}
	c := Command{Argv: []string{"/usr/bin/env"}, Env: nil}
	if out := string(mustRun(t, c).Stdout); strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, markName+"=") {
		t.Errorf("without an environment a command has %q", out)
	}
}

func BenchmarkRun(b *testing.B) {
	c := Command{Argv: []string{"/bin/true"}, Limit: far}
	for b.Loop() {
		if _, err := Run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlainExec(b *testing.B) {
	for b.Loop() {
		var out, err bytes.Buffer
		cmd := exec.Command("/bin/true")
		cmd.Stdout, cmd.Stderr = &out, &err
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunOutput(b *testing.B) {
	c := Command{Argv: []string{"/usr/bin/head", "-c", "10000000", "/dev/zero"}, Limit: far}
	b.SetBytes(10000000)
	for b.Loop() {
		if _, err := Run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
