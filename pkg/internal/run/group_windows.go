package run

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// Adopt does nothing: on Windows a command inherits no files, and a job contains all of its processes.
func Adopt() {}

func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// group is the job that contains a command and all processes that it starts.
type group struct {
	cmd    *exec.Cmd
	job    windows.Handle
	exited chan struct{}
}

func start(cmd *exec.Cmd, _ time.Time) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	g := &group{cmd: cmd, job: job, exited: make(chan struct{})}
	// A process that the command starts before this assignment is not in the job. There is hardly time for that.
	if err := assign(job, uint32(cmd.Process.Pid)); err != nil {
		_ = cmd.Process.Kill() // its child processes could not be ended
		_ = cmd.Wait()
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("cannot add the process to a job object: %w", err)
	}
	bug.Go(func() {
		defer close(g.exited)
		_ = cmd.Wait() // the exit code is read from ProcessState
	})
	return g, nil
}

// assign puts a process into a job. A process that has already ended needs no job.
func assign(job windows.Handle, pid uint32) error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE|windows.SYNCHRONIZE, false, pid)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(p) }()
	err = windows.AssignProcessToJobObject(job, p)
	if ended, _ := windows.WaitForSingleObject(p, 0); ended == windows.WAIT_OBJECT_0 {
		return nil
	}
	return err
}

func (g *group) close() { _ = windows.CloseHandle(g.job) }

// reap returns how the command ended, nil if it has not.
func (g *group) reap() *os.ProcessState {
	select {
	case <-g.exited:
		return g.cmd.ProcessState
	default:
		return nil
	}
}

// end kills the processes of the command. Windows has no signal that asks them to end.
func (g *group) end(time.Duration) {
	g.sweep()
	_ = g.cmd.Process.Kill()
	wait(g.exited, patience)
}

// retire kills the processes that the command left running.
func (g *group) retire(time.Duration) { g.sweep() }

// sweep kills the remaining processes of the job.
func (g *group) sweep() { _ = windows.TerminateJobObject(g.job, 1) }

// status returns the exit code of a process. There are no signals on Windows.
func status(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

// sameName reports whether two names mean the same environment variable.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }
