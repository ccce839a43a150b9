package console

import (
	"errors"
	"io"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// Paged prints a long list through the user's pager if it is longer than the terminal. PAGER= turns that off.
func (a *App) Paged(print func() error) error {
	terminal, ok := a.Stdout.(*Output)
	if !ok || !Terminal(a.Stdout) || !Terminal(a.Stdin) || a.JSON || a.Getenv("CI") != "" ||
		a.Getenv("TERM") == "dumb" {
		return print()
	}
	command := strings.Fields(a.pager())
	if len(command) == 0 {
		return print()
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return print() //nolint:nilerr // without a pager, the list is printed
	}
	b := &page{terminal: terminal}
	a.Stdout = b
	err = print()
	a.Stdout = terminal
	text := terminal.shown(b.String())
	file, _ := fileOf(terminal)
	if _, lines, noSize := term.GetSize(int(file.Fd())); err != nil || noSize != nil ||
		strings.Count(text, "\n") < lines {
		if _, failed := io.WriteString(terminal, b.String()); failed != nil && err == nil {
			return failed
		}
		return err
	}
	cmd := exec.Command(program, command[1:]...) //nolint:gosec,noctx // the user's own pager
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), file, a.Stderr
	cmd.Env = a.Variables()
	if a.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX") // end if the text fits, keep colors, leave the text on the screen
	}
	if a.Getenv("LESSCHARSET") == "" && !a.ASCII() {
		cmd.Env = append(cmd.Env, "LESSCHARSET=utf-8") // less shows bytes if the locale is unset
	}
	if err := cmd.Run(); err != nil {
		if _, ended := errors.AsType[*exec.ExitError](err); !ended {
			return err
		}
	}
	return nil
}

// pager returns the command of the user's pager.
func (a *App) pager() string {
	for _, v := range a.Variables() {
		if value, ok := strings.CutPrefix(v, "PAGER="); ok {
			return value
		}
	}
	return "less"
}
