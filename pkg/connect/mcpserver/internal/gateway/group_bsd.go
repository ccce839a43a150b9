//go:build unix && !linux

package gateway

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a program in its own process group: it does not get the terminal's interrupt, and its children can be
// ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
