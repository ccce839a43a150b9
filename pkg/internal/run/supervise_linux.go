package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// superviseEntry is the first argument of a supervisor.
const superviseEntry = "run-supervise"

// lifePipe is the file descriptor of a supervisor or watcher that ends with the process that started it.
const lifePipe = 3

// hasLife reports whether this process has that file.
func hasLife() bool {
	var life unix.Stat_t
	return unix.Fstat(lifePipe, &life) == nil && life.Mode&unix.S_IFMT == unix.S_IFIFO
}

// Supervise changes a command that is not started yet: a process of helper, as in [Command].Helper, runs it and adopts
// all processes that it starts, however they detach. They end with the command, when the supervisor gets SIGTERM and
// they obey, and in any case when the returned function is called or this process ends. The caller calls it after a
// failed start, too. Supervise returns nil if it changed nothing, because helper is not a single program.
func Supervise(cmd *exec.Cmd, helper []string) (end func(), err error) {
	if len(helper) != 1 || cmd.Err != nil || len(cmd.ExtraFiles) > 0 {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Args = append([]string{helper[0], superviseEntry, cmd.Path}, cmd.Args...)
	cmd.Path, cmd.ExtraFiles = helper[0], []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // and the session of this process: see [Adopt]
	return func() { _, _ = w.Close(), r.Close() }, nil
}

// endTime is the maximum time in which a supervisor ends processes.
const endTime = time.Minute

// supervise is the main function of a supervisor.
func supervise(args []string) (code int, helper bool) {
	if len(args) < 4 || args[1] != superviseEntry || !hasLife() {
		return 0, false
	}
	runtime.LockOSThread() // the command ends with the thread that starts it
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	closeOnExec()
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	cmd := &exec.Cmd{
		Path: args[2], Args: args[3:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot start %s: %v\n", args[2], errors.Unwrap(err))
		return 127, true
	}
	// only the command has the streams, so that its end shows
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		_ = f.Close()
	}
	gone, ended := make(chan struct{}), make(chan struct{})
	bug.Go(func() {
		defer close(gone)
		_, _ = os.NewFile(lifePipe, "life").Read(make([]byte, 1)) // returns when the other end is closed
	})
	bug.Go(func() {
		defer close(ended)
		code = reapUntil(cmd.Process.Pid)
	})
	for {
		select {
		case <-ended:
			endDescendants()
			return code, true
		case <-gone:
			endDescendants()
			return 1, true
		case <-terms:
			for _, p := range descendants() {
				p.signal(unix.SIGTERM)
			}
		}
	}
}

// reapUntil reaps the children of this process until one has ended, and returns its exit code as a shell does.
func reapUntil(child int) (code int) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 1
		case pid == child && status.Signaled():
			return 128 + int(status.Signal())
		case pid == child:
			return status.ExitStatus()
		}
	}
}

// endDescendants kills the descendants of this process until none is left. It stops all of them before it kills the
// first, so that none starts another meanwhile.
func endDescendants() {
	for limit := time.Now().Add(endTime); time.Now().Before(limit); { //nolint:forbidigo // it is waited for in real time
		switch pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); {
		case errors.Is(err, unix.ECHILD):
			return // only the kernel knows that: a list of processes may miss one that has just started
		case err != nil || pid > 0:
			continue
		}
		var all []process
		for range 1000 {
			found := slices.DeleteFunc(descendants(), func(p process) bool { return slices.ContainsFunc(all, p.is) })
			if len(found) == 0 {
				break
			}
			for _, p := range found {
				p.signal(unix.SIGSTOP)
			}
			all = append(all, found...)
		}
		for _, p := range all {
			p.signal(unix.SIGKILL)
		}
		for _, p := range all {
			p.waitExit(patience / 20)
		}
	}
}

// descendants returns the living descendants of this process.
func descendants() []process {
	children := map[int][]process{}
	for _, pid := range allProcesses() {
		if p, ok := readProcess(pid); ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	var found []process
	for next := []int{os.Getpid()}; len(next) > 0; next = next[1:] {
		for _, p := range children[next[0]] {
			next = append(next, p.pid)
			if !p.dead {
				found = append(found, p)
			}
		}
	}
	return found
}
