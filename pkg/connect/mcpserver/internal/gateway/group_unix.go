//go:build unix

package gateway

import (
	"os/exec"
	"syscall"
)

// askGroup asks a program and its children to end.
func askGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// endGroup kills the children that a program left behind.
func endGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // usually nothing is left
}
