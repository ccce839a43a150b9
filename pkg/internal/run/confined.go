package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// Confines returns why commands cannot be confined on this machine, nil if they can. It runs a program that does
// nothing.
func Confines(ctx context.Context, helper []string) error {
	res, err := Run(ctx, Command{
		Argv: []string{"true"}, Dir: "/", Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Sandbox: &sandbox.Rules{}, Helper: helper,
	})
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("a test command in the sandbox exited with code %d", res.ExitCode)
	}
	return err
}

// running is a started command. Box is nil if the command is not confined; otherwise the group is the helper's.
type running struct {
	*group
	box *sandbox.Box
}

// start starts a command, confined if it has a Sandbox.
func (c Command) start(cmd *exec.Cmd, began time.Time, r *Result) (*running, error) {
	if c.Sandbox != nil {
		g, err := c.startConfined(cmd, began)
		missing := new(sandbox.UnavailableError)
		switch {
		case err == nil:
			r.Sandbox = c.Sandbox.String()
			return g, nil
		case !errors.As(err, &missing) || !c.Sandbox.Optional:
			return nil, err
		}
		r.Unconfined = missing.Why
	}
	g, err := start(cmd, began)
	if err != nil {
		return nil, c.startError(err)
	}
	return &running{group: g}, nil
}

// startConfined starts a command in a box.
func (c Command) startConfined(cmd *exec.Cmd, began time.Time) (*running, error) {
	box, err := sandbox.New(c.Sandbox, c.Helper, cmd)
	if err != nil {
		return nil, err
	}
	g, err := start(box.Cmd, began)
	if err != nil {
		box.Close()
		return nil, box.NotStarted(err)
	}
	most := c.Limit
	if most <= 0 {
		most = DefaultLimit
	}
	if err := box.Begin(most); err != nil {
		_ = box.Cmd.Process.Kill()
		wait(g.exited, patience)
		g.reap()
		g.close()
		box.Tidy() // the command may have started
		box.Close()
		return nil, c.executeError(err)
	}
	return &running{group: g, box: box}, nil
}

// executeError returns the error that a confined command could not be started.
func (c Command) executeError(err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err
	}
	if errors.Is(errno, fs.ErrNotExist) {
		return diag.Errorf(diag.NotFound,
			"cannot execute %s: the file or the program in its #! line does not exist, or the sandbox hides it", c.Argv[0]).
			WithHint("install the program in /usr or in a directory on PATH")
	}
	return c.startError(errno)
}

// ended returns a channel that is closed when the command has ended. Processes that it started may still run.
func (g *running) ended() <-chan struct{} {
	if g.box != nil {
		return g.box.Over()
	}
	return g.exited
}

// end sends SIGTERM to the processes of the command, and SIGKILL after grace. Those of a box need not be found: the
// helper is the first process of their namespace, so one signal to it reaches all of them, however many there are.
func (g *running) end(grace time.Duration) {
	if g.box == nil {
		g.group.end(grace)
		return
	}
	_ = g.box.Cmd.Process.Signal(syscall.SIGTERM) // it fails if the helper has ended, with all of them
	wait(g.exited, grace)
	_ = g.box.Cmd.Process.Kill()
	wait(g.exited, patience)
}

// retire sends SIGTERM to the processes that the command left running, and SIGKILL after grace.
func (g *running) retire(grace time.Duration) {
	if g.box == nil {
		g.group.retire(grace)
		return
	}
	g.end(grace)
}

// close releases the command and its box.
func (g *running) close() {
	g.group.close()
	if g.box != nil {
		g.box.Close()
	}
}

// status returns how the command ended. Known is false if it was killed and has not exited in time.
func (g *running) status() (code int, signal string, known bool) {
	if g.box != nil {
		wait(g.exited, patience) // the helper waits for nothing else, or was killed
	}
	state := g.reap()
	if g.box != nil {
		if code, signal, known = g.box.Ended(); known {
			return code, signal, true
		}
	}
	if state == nil {
		return 0, "", false
	}
	code, signal = status(state)
	return code, signal, true
}
