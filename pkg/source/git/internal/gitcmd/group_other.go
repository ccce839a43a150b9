//go:build !unix

package gitcmd

import "os/exec"

// killGroup does nothing: the command alone is killed when its context ends, and what it has started ends with its
// pipes.
func killGroup(*exec.Cmd) {}
