//go:build unix && !linux

package run

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Adopt has commands inherit no file that this process has open: see the one for Linux, which does more.
func Adopt() { ownFiles() }

// closeOnExec does nothing: there is no call for all files.
func closeOnExec() bool { return false }

// apart gives a command a session, and so a process group, of its own: there is no terminal that it could read, stop
// at, or write keystrokes into.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// group is the process group of a command. A process that leaves it is not found again.
type group struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

func start(cmd *exec.Cmd, _ time.Time) (*group, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(g.exited)
		_ = cmd.Wait() // an exit code is no error
	}()
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

// end asks the processes of the command to end, and a moment later ends them.
func (g *group) end(grace time.Duration) {
	_ = unix.Kill(-g.cmd.Process.Pid, unix.SIGTERM)
	wait(g.exited, grace)
	g.sweep()
	wait(g.exited, patience)
}

// retire asks what a command left running to end, and a moment later ends it. While one of them lives, no other group
// can have the number.
func (g *group) retire(grace time.Duration) {
	if unix.Kill(-g.cmd.Process.Pid, unix.SIGTERM) != nil {
		return // there is nobody
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

// sweep kills what is left of the group.
func (g *group) sweep() { _ = unix.Kill(-g.cmd.Process.Pid, unix.SIGKILL) }
