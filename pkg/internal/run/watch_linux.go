package run

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// watchEntry is the first argument of a watcher.
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
	if len(args) != 5 && len(args) != 6 || args[1] != watchEntry || !hasLife() {
		return 0, false
	}
	pid, err := strconv.Atoi(args[2])
	since, failed := strconv.ParseUint(args[4], 10, 64)
	if err != nil || failed != nil || pid < 2 || args[3] == "" {
		return 0, false
	}
	if text, _ := bufio.NewReader(os.NewFile(lifePipe, "life")).ReadString('\n'); text != "" {
		return 0, true // the command has ended and its parent has cleaned up
	}
	g := &group{pid: pid, mark: []byte(args[3]), since: since, exited: make(chan struct{})}
	g.sweep()
	if len(args) == 6 {
		sandbox.Settle(lifePipe + 1)
	}
	return 0, true
}

// watch starts a watcher: a process that ends the command's processes if this process is killed, and then tidies up for
// a box. The returned function ends the watcher. Like a supervisor's, its arguments come first, so that none of a
// user's command can be one.
func (g *running) watch(helper []string) (stop func()) {
	none := func() {}
	if len(helper) != 1 {
		return none
	}
	r, w, err := os.Pipe()
	if err != nil {
		return none
	}
	cmd := &exec.Cmd{
		Path: helper[0], Dir: "/", Env: []string{"GOMAXPROCS=1", "GOGC=off"}, ExtraFiles: []*os.File{r},
		Args: []string{helper[0], watchEntry, strconv.Itoa(g.pid), string(g.mark), strconv.FormatUint(g.since, 10)},
		// Its own process group protects it from a signal to this process's group. It keeps this process's session: see
		// [Adopt].
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if g.box != nil {
		files, err := g.box.Remains()
		if len(files) > 0 {
			defer files[0].Close()
		}
		if err == nil {
			cmd.Args, cmd.ExtraFiles = append(cmd.Args, "box"), append(cmd.ExtraFiles, files...)
		}
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
		bug.Go(func() { _ = cmd.Wait() })
	}
}
