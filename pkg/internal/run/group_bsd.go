//go:build unix && !linux

package run

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// Adopt prevents commands from inheriting this process's open files. The one for Linux also adopts orphans.
func Adopt() { ownFiles() }

// closeOnExec returns false: there is no system call for all files.
func closeOnExec() bool { return false }

// apart gives a command its own session and process group, so that it has no terminal to read from, stop at, or inject
// keystrokes into.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// group is the process group of a command. A process that leaves it cannot be found.
type group struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

func start(cmd *exec.Cmd, _ time.Time) (*group, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{cmd: cmd, exited: make(chan struct{})}
	bug.Go(func() {
		defer close(g.exited)
		_ = cmd.Wait() // the exit code is read from ProcessState
	})
	return g, nil
}

func (g *group) close() {}

// reap returns how the command ended, nil if it has not.
func (g *group) reap() *os.ProcessState {
	select {
	case <-g.exited:
		return g.cmd.ProcessState
	default:
		return nil
	}
}

// end sends SIGTERM to the processes of the command, and SIGKILL after grace.
func (g *group) end(grace time.Duration) {
	_ = unix.Kill(-g.cmd.Process.Pid, unix.SIGTERM)
	wait(g.exited, grace)
	g.sweep()
	wait(g.exited, patience)
}

// retire sends SIGTERM to the processes that the command left running, and SIGKILL after grace. No other group can get
// the group's number while one of them lives.
func (g *group) retire(grace time.Duration) {
	if unix.Kill(-g.cmd.Process.Pid, unix.SIGTERM) != nil {
		return // no process is left
	}
	limit := time.NewTimer(grace)
	defer limit.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for unix.Kill(-g.cmd.Process.Pid, 0) == nil {
		select {
		case <-again.C:
		case <-limit.C:
			g.sweep()
			return
		}
	}
}

// sweep kills the remaining processes of the group.
func (g *group) sweep() { _ = unix.Kill(-g.cmd.Process.Pid, unix.SIGKILL) }
