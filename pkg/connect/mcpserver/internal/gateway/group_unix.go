//go:build unix

package gateway

import (
	"os/exec"
	"syscall"
)

// askGroup asks a program, and what it started, to end.
func askGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// endGroup ends what a program has left behind.
func endGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there is mostly nothing left
}
