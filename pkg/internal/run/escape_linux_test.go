package run

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/testkit"
	"golang.org/x/sys/unix"
)

// roleName is the variable that makes the test binary act as one of the processes below.
const roleName = "SKILLPM_TEST_ROLE"

func TestMain(m *testing.M) {
	if code, helper := Enter(os.Args); helper {
		os.Exit(code)
	}
	switch os.Getenv(roleName) {
	case "daemon": // has left its session, its parent, and if it is told to its environment; waits for ever
		_ = unix.Pause()
	case "leaver": // starts a daemon that does not have it as its parent
		leave(os.Args[1:])
	case "probe": // tries to get out of a sandbox
		probe(os.Args[1:])
	case "outer": // what skillpm run is
		if os.Args[1] == "adopt" {
			Adopt()
		}
		outer()
	default:
		testkit.UseMemory()
		m.Run()
	}
}

// leave starts a daemon, writes its process id to the inherited file 3, and ends.
func leave(how []string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleName+"=daemon")
	switch how[0] {
	case "wiped":
		cmd.Env = []string{roleName + "=daemon"}
	case "forged":
		cmd.Env = []string{roleName + "=daemon", markName + "=another"}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Fprintln(os.NewFile(3, "report"), cmd.Process.Pid)
	if how[1] == "stay" {
		_ = unix.Pause()
	}
	os.Exit(0)
}

// outer runs a command that escapes, with file 3 for its report, which its script opens by name.
func outer() {
	limit := far
	if os.Args[5] == "limited" {
		limit = 2 * time.Second
	}
	r, err := Run(context.Background(), Command{
		Argv: []string{"/bin/sh", "-c", `"$0" "$1" "$2" 3>"$3"; exit 5`, os.Args[0], os.Args[2], os.Args[3], os.Args[4]},
		Env:  []string{roleName + "=leaver"}, Limit: limit, Grace: 50 * time.Millisecond,
	})
	fmt.Println(r.ExitCode, r.TimedOut, err)
	os.Exit(0)
}

// TestRunEscape checks that processes that leave the group and the session still end with the command.
func TestRunEscape(t *testing.T) {
	for _, c := range []struct {
		name                 string
		adopt, environ, stay string
		limit                bool
	}{
		{name: "a session of its own", adopt: "no", environ: "kept", stay: "leave"},
		{name: "a wiped environment", adopt: "no", environ: "wiped", stay: "stay", limit: true},
		{name: "both and an orphan", adopt: "adopt", environ: "wiped", stay: "leave"},
		{name: "the mark of another command", adopt: "adopt", environ: "forged", stay: "leave"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fifo := t.TempDir() + "/report"
			if err := unix.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			report, err := os.OpenFile(fifo, os.O_RDWR, 0) // so that nobody waits for the other side
			if err != nil {
				t.Fatal(err)
			}
			defer report.Close()
			limit := "unlimited"
			if c.limit {
				limit = "limited"
			}
			cmd := exec.Command(os.Args[0], c.adopt, c.environ, c.stay, fifo, limit)
			cmd.Env = append(os.Environ(), roleName+"=outer")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			_ = report.SetReadDeadline(time.Now().Add(far))
			line, err := bufio.NewReader(report).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			waitGone(t, []byte(line))
			if want := "5 false <nil>\n"; !c.limit && string(out) != want {
				t.Errorf("the command: %q, want %q", out, want)
			}
		})
	}
}

// TestEnterArguments checks that no argument of another command starts a helper.
func TestEnterArguments(t *testing.T) {
	for _, args := range []string{
		"skillpm list run-watch 4194304 MARK 1", "skillpm run-watch 4194304 MARK 1", "skillpm run-watch 1 MARK 1 x",
		"skillpm list run-supervise /bin/true true", "skillpm run-supervise /bin/true true", "run-watch 4194304 MARK 1",
	} {
		if code, helper := Enter(strings.Fields(args)); helper {
			t.Errorf("%s: a helper that exits with %d", args, code)
		}
	}
}

// TestRunKilled checks that if skillpm is killed, the command and its child processes end, in any process group.
func TestRunKilled(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunForever$", "-test.v")
	cmd.Env = append(os.Environ(), "SKILLPM_TEST_FOREVER=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var fds []int
	for len(fds) < 3 && lines.Scan() {
		n, ok := strings.CutPrefix(lines.Text(), "process ")
		pid, err := strconv.Atoi(n)
		if !ok || err != nil {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatalf("process %d: %v", pid, err)
		}
		defer unix.Close(fd)
		fds = append(fds, fd)
	}
	// A command gets its watcher shortly after it starts.
	for limit := time.Now().Add(far); !hasWatcher(t, cmd.Process.Pid); {
		if time.Now().After(limit) {
			t.Fatal("it has no watcher")
		}
	}
	_ = cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	for i, fd := range fds {
		if !hasEnded(fd, far) {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			t.Errorf("process %d of the script still runs", i)
		}
	}
}

// hasWatcher reports whether a process is the parent of a watcher.
func hasWatcher(t *testing.T, pid int) bool {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, _ := os.ReadFile(f) // of a thread that may have ended
		for child := range strings.FieldsSeq(string(text)) {
			if line, _ := os.ReadFile("/proc/" + child + "/cmdline"); strings.Contains(string(line), watchEntry) {
				return true
			}
		}
	}
	return false
}

func TestRunForever(t *testing.T) {
	if os.Getenv("SKILLPM_TEST_FOREVER") == "" {
		t.Skip("it is the process that TestRunKilled kills")
	}
	c := shell(`trap '' HUP; sleep 1000 & echo process $!; setsid sleep 1000 & echo process $!; echo process $$; exec sleep 1000`)
	c.Stdout, c.Helper = os.Stdout, self(t)
	mustRun(t, c)
}

// TestRunConcurrent checks that concurrent commands do not end each other, even if this process adopts orphans.
func TestRunConcurrent(t *testing.T) {
	Adopt()
	in, w := io.Pipe()
	first := make(chan *Result)
	go func() {
		c := shell(`echo here; read line; echo "$line"`)
		c.Stdin = in
		r, _ := Run(context.Background(), c)
		first <- r
	}()
	for range 20 {
		mustRun(t, shell(`setsid true & true`))
	}
	_, _ = io.WriteString(w, "still there\n")
	w.Close()
	if r := <-first; string(r.Stdout) != "here\nstill there\n" || r.ExitCode != 0 {
		t.Errorf("got %q, exit %d, signal %s", r.Stdout, r.ExitCode, r.Signal)
	}
}

// TestRunStarting checks that commands that start while others end are not treated as orphans of those.
func TestRunStarting(t *testing.T) {
	Adopt()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if r, err := Run(t.Context(), shell(`sleep 0.01 & exit 0`)); err != nil || r.ExitCode != 0 {
					t.Errorf("%v, exit %d, signal %s", err, r.ExitCode, r.Signal)
				}
			}
		})
	}
	all.Wait()
}

func TestReadStat(t *testing.T) {
	p, ok := readStat(42, []byte("42 (a ) R 1 (b) S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 100 1\n"))
	if want := (process{pid: 42, parent: 7, group: 8, session: 9, since: 12345}); !ok || p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	for _, line := range []string{"", "42", "42 (x", "42 (x) S", "42 (x) S 1 2 3"} {
		if _, ok := readStat(42, []byte(line)); ok {
			t.Errorf("%q was read", line)
		}
	}
}
