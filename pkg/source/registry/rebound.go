package registry

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// ReboundError reports that a project binds an owner to another registry than the user's settings. A project may come
// from anybody, so the user must accept its binding first.
type ReboundError struct {
	Owner   string
	Project string // address in the project's skillpm.yaml
	User    string // address in the user's settings
}

// Error names both registries.
func (e *ReboundError) Error() string {
	return fmt.Sprintf("skillpm.yaml binds the owner %s to %s, but your settings bind this owner to %s", e.Owner,
		e.Project, e.User)
}

// Code returns [diag.Denied].
func (e *ReboundError) Code() diag.Code { return diag.Denied }

// Hint describes how the user decides. The command does not have an address with which a shell would do more than
// pass it on: the project may have chosen the address so that somebody copies the command.
func (e *ReboundError) Hint() string {
	return fmt.Sprintf("ask the owner of the project why; to use the project's registry for %s in this project, run: "+
		"skillpm registry bind %s %s --accept", e.Owner, e.Owner, addressForCommand(e.Project))
}

// addressForCommand returns the name or address of a registry for a command in a message, or a placeholder.
func addressForCommand(address string) string {
	if strings.HasPrefix(address, "-") || strings.ContainsFunc(address, isShellCharacter) {
		return "REGISTRY"
	}
	return address
}

// isShellCharacter reports whether a character of an address may mean something to a shell.
func isShellCharacter(c rune) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@%+=-"
	return !strings.ContainsRune(plain, c)
}
