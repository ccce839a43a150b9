//go:build unix

package gateway

import (
	"os/exec"
	"syscall"
)

// apart puts a program into a process group of its own: the terminal's interrupt is for us, and what it starts is found.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends what a program has left behind.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there is mostly nothing left
	}
}
