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

// watchEntry is the argument that starts a watcher.
const watchEntry = "run-watch"

// watchAfter is how long a command runs before it gets a watcher. Most commands end earlier.
const watchAfter = 200 * time.Millisecond

// Enter is the main function of the program in [Command].Helper, which calls it with os.Args before anything else and
// exits with the code if helper is true. It confines a command, like [sandbox.Enter], or watches or supervises one.
func Enter(args []string) (code int, helper bool) {
	for _, enter := range []func([]string) (int, bool){sandbox.Enter, supervise} {
		if code, helper := enter(args); helper {
			return code, true
		}
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
		return 0, false // the argument is for another program
	}
	if text, _ := bufio.NewReader(os.Stdin).ReadString('\n'); text != "" {
		return 0, true // the command has ended and its parent has cleaned up
	}
	g := &group{pid: pid, mark: []byte(args[end+2]), since: since, exited: make(chan struct{})}
	g.sweep()
	return 0, true
}

// watch starts a watcher: a process that ends the command's processes if this process is killed. The returned function
// ends the watcher.
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
		// Its own process group protects it from a signal to this process's group. It keeps this process's session: see
		// [Adopt].
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return none // the command runs without a watcher
	}
	return func() {
		_, _ = w.WriteString("done\n")
		_ = w.Close()
		go func() { _ = cmd.Wait() }()
	}
}
