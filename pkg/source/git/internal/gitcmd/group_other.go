//go:build !unix

package gitcmd

import "os/exec"

// killGroup does nothing: when the context ends, only git itself is killed, and its children when their pipes close.
func killGroup(*exec.Cmd) {}
