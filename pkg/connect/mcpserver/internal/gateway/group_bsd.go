//go:build unix && !linux

package gateway

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a program into a process group of its own: the terminal's interrupt is for us, and what it starts is
// found.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
