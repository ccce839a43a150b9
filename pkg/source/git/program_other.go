//go:build !unix

package git

import "os/exec"

// ownGroup does nothing: the command alone is killed when its context ends, and what it has started ends with its
// pipes.
func ownGroup(*exec.Cmd) {}
