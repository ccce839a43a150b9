//go:build unix

package gateway

import (
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// watch ends a process group if this process is killed: a shell waits for the end of a pipe that only this process
// holds. The returned function stops the shell.
func watch(pid int) (release func()) {
	cmd := exec.Command("/bin/sh", "-c", `read -r word; [ "$word" = released ] || kill -s KILL -- "-$1"`, "sh",
		strconv.Itoa(pid))
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return func() {}
	}
	// without a shell; on Linux the program ends with this process anyway
	if err := cmd.Start(); err != nil {
		_ = in.Close() // the shell was not started
		return func() {}
	}
	return func() {
		_, _ = io.WriteString(in, "released\n") // if it fails, the shell has ended
		_ = in.Close()
		_ = cmd.Wait() // the exit status is not needed
	}
}
