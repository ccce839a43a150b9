// Package gitcmd runs the git program: with settings that outrank every configuration file, within bounds of memory and
// output, and killed with all that it has started when its context ends.
package gitcmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxErrorText is how much of git's standard error is kept, in bytes.
const maxErrorText = 64 << 10

// ErrOutput says that git printed more than it may.
var ErrOutput = errors.New("git does not stop printing")

// Error says that git ended with an error.
type Error struct {
	Stderr string
	Err    error
}

// Error returns the reason that git has printed.
func (e *Error) Error() string {
	if line := e.reason(); line != "" {
		return "git: " + line
	}
	return "git: " + e.Err.Error()
}

// Unwrap returns how the program ended.
func (e *Error) Unwrap() error { return e.Err }

// Printed reports whether git has printed one of the phrases.
func (e *Error) Printed(phrases ...string) bool {
	for _, phrase := range phrases {
		if strings.Contains(e.Stderr, phrase) {
			return true
		}
	}
	return false
}

// reason returns the line that says why git has ended.
func (e *Error) reason() string {
	last := ""
	for line := range strings.Lines(e.Stderr) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "fatal: "); ok {
			return text
		}
		if line != "" {
			last = line
		}
	}
	return last
}

// Program is a git program with what it may use.
type Program struct {
	Path      string
	Dir       string   // that it runs in
	Env       []string // all of its environment
	Settings  []string // KEY=VALUE, for its command line, where the last word on a key counts
	MaxOutput int64    // bytes
	MaxMemory int64    // bytes, also of each program that it starts; only Linux bounds it
}

// Run runs git and returns what it prints.
func (p *Program) Run(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	var words []string
	for _, s := range p.Settings {
		words = append(words, "-c", s)
	}
	cmd := exec.CommandContext(ctx, p.Path, append(words, args...)...) //nolint:gosec // it is what the user has set
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.Env, strings.NewReader(stdin)
	cmd.WaitDelay = 5 * time.Second
	killGroup(cmd)
	stdout, stderr := &bounded{limit: p.MaxOutput, fails: true}, &bounded{limit: maxErrorText}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Start()
	if err == nil {
		limitMemory(cmd.Process.Pid, p.MaxMemory)
		err = cmd.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case stdout.over:
		return nil, ErrOutput
	case err != nil:
		return nil, &Error{Stderr: string(stderr.first), Err: err}
	}
	return stdout.first, nil
}

// Hardened returns settings that keep git from running or contacting anything that a configuration names.
func Hardened() []string {
	return []string{
		"core.hooksPath=" + os.DevNull, "core.fsmonitor=", "core.askPass=", "credential.helper=", "gc.auto=0",
		"maintenance.auto=false", "fetch.recurseSubmodules=false", "protocol.allow=never",
	}
}

// bounded keeps the first bytes of what is written to it. It has no ReadFrom, by which [io.Copy] would go around it.
type bounded struct {
	first []byte
	limit int64
	over  bool
	fails bool // writing more is an error, instead of in vain
}

func (b *bounded) Write(p []byte) (int, error) {
	space := min(max(b.limit-int64(len(b.first)), 0), int64(len(p)))
	b.first = append(b.first, p[:space]...)
	if b.over = b.over || space < int64(len(p)); b.over && b.fails {
		return int(space), io.ErrShortWrite
	}
	return len(p), nil
}
