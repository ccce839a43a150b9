//go:build unix

package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// peakOf returns the most memory that a finished process, or one that it waited for, had resident.
func peakOf(state *os.ProcessState) int64 {
	rusage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	peak := int64(rusage.Maxrss) //nolint:unconvert // it is an int32 where processors have 32 bits
	if runtime.GOOS == "darwin" {
		return peak // in bytes there, in KiB elsewhere
	}
	return peak << 10
}

// ownGroup puts a command in a process group of its own, all of which ends when the command's context does.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
