//go:build !unix

package gateway

import (
	"errors"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// askGroup does nothing: the system has no such signal.
func askGroup(*exec.Cmd) error { return errors.ErrUnsupported }

// endGroup kills a program that has not ended.
func endGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it has usually ended
