//go:build !unix

package gateway

import (
	"errors"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// askGroup cannot ask: there is no such signal.
func askGroup(*exec.Cmd) error { return errors.ErrUnsupported }

// endGroup ends a program that has not ended by itself.
func endGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it has mostly ended
