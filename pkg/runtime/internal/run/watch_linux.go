package run

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// watchEntry is the argument that a watcher is started with.
const watchEntry = "run-watch"

// watchAfter is how long a command runs before it gets a watcher: most have ended by then.
const watchAfter = 200 * time.Millisecond

// Enter is the program that [Command.Helper] names: main calls it with os.Args before anything else, and exits with the
// code if it returns true. It confines a command, as [sandbox.Enter], or is the watcher of one.
func Enter(args []string) (code int, helper bool) {
	if code, helper := sandbox.Enter(args); helper {
		return code, true
	}
	end := len(args) - 4
	if end < 1 || args[end] != watchEntry {
		return 0, false
	}
	pid, err := strconv.Atoi(args[end+1])
	since, failed := strconv.ParseUint(args[end+3], 10, 64)
	var stdin unix.Stat_t
	if err != nil || failed != nil || pid < 2 || args[end+2] == "" || unix.Fstat(0, &stdin) != nil ||
		stdin.Mode&unix.S_IFMT != unix.S_IFIFO {
		return 0, false // it is somebody's word for something else
	}
	if text, _ := bufio.NewReader(os.Stdin).ReadString('\n'); text != "" {
		return 0, true // it has ended, and whoever started it looked after what it left
	}
	g := &group{pid: pid, mark: []byte(args[end+2]), since: since, exited: make(chan struct{})}
	g.sweep()
	return 0, true
}

// watch starts a watcher of the command: a process that ends what the command started if this process is killed
// outright. What it returns ends the watcher.
func (g *group) watch(helper []string) (stop func()) {
	none := func() {}
	if len(helper) == 0 {
		return none
	}
	r, w, err := os.Pipe()
	if err != nil {
		return none
	}
	cmd := &exec.Cmd{
		Path: helper[0], Dir: "/", Env: []string{"GOMAXPROCS=1", "GOGC=off"}, Stdin: r,
		Args: append(append([]string(nil), helper...), watchEntry, strconv.Itoa(g.pid), string(g.mark),
			strconv.FormatUint(g.since, 10)),
		// In a group of its own it outlives who kills that of this process. Its session is this one's: see [Adopt].
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return none // the command runs all the same
	}
	return func() {
		_, _ = w.WriteString("done\n")
		_ = w.Close()
		go func() { _ = cmd.Wait() }()
	}
}
