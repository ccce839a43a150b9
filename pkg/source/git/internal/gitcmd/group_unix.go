//go:build unix

package gitcmd

import (
	"os/exec"
	"syscall"
)

// killGroup has a command and all that it starts killed when its context ends.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
