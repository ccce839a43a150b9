//go:build unix

package gateway

import (
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// watch has a group of processes ended when this process ends in a way that leaves it no time to do so: a shell waits
// for the end of a pipe that only this process holds. What it returns says that this is not needed any more.
func watch(pid int) (release func()) {
	cmd := exec.Command("/bin/sh", "-c", `read -r word; [ "$word" = released ] || kill -s KILL -- "-$1"`, "sh",
		strconv.Itoa(pid))
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return func() {}
	}
	// there is no shell: on Linux the program itself ends with this process all the same
	if err := cmd.Start(); err != nil {
		_ = in.Close() // nobody reads it
		return func() {}
	}
	return func() {
		_, _ = io.WriteString(in, "released\n") // where it fails the shell has ended
		_ = in.Close()
		_ = cmd.Wait() // how it ends is nothing to anybody
	}
}
