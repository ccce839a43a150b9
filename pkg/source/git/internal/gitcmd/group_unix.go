//go:build unix

package gitcmd

import (
	"os/exec"
	"syscall"
)

// killGroup makes the end of the context kill a command and all its children. They have no terminal, so that none of
// them, such as ssh, can prompt.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
