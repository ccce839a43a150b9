//go:build !unix

package gateway

import "os/exec"

func apart(*exec.Cmd) {}

// endGroup ends a program that has not ended by itself.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // it has mostly ended
	}
}
