// Package gitcmd runs the git program with settings that override all configuration files and with limits on memory and
// output. When the context ends, it kills git and all its child processes.
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

// maxErrorText is the most bytes of git's standard error that are kept.
const maxErrorText = 64 << 10

// ErrOutput reports that git printed more than MaxOutput.
var ErrOutput = errors.New("git printed too much output")

// Error reports that git exited with an error.
type Error struct {
	Stderr string
	Err    error
}

// Error returns the reason that git printed, or how it ended.
func (e *Error) Error() string {
	if line := e.reason(); line != "" {
		return "git: " + line
	}
	return "git: " + e.Err.Error()
}

// Unwrap returns how the program ended.
func (e *Error) Unwrap() error { return e.Err }

// Printed reports whether git printed one of the phrases to standard error.
func (e *Error) Printed(phrases ...string) bool {
	for _, phrase := range phrases {
		if strings.Contains(e.Stderr, phrase) {
			return true
		}
	}
	return false
}

// reason returns the text of the first fatal error, or else the last line.
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

// BeforeFatal returns the first line that another program, such as ssh, printed before git's fatal error.
func (e *Error) BeforeFatal() string {
	for line := range strings.Lines(e.Stderr) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "fatal: ") {
			break
		}
		if line != "" && !strings.HasPrefix(line, "Warning: ") && !strings.HasPrefix(line, "@@@") {
			return line
		}
	}
	return ""
}

// Program configures runs of git.
type Program struct {
	Path      string
	Dir       string   // working directory
	Env       []string // complete environment
	Settings  []string // KEY=VALUE for git -c; the last value of a key wins
	MaxOutput int64    // bytes
	MaxMemory int64    // bytes, for git and each child process, 0 for any; only on Linux
}

// Run runs git and returns its standard output.
func (p *Program) Run(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	var flags []string
	for _, s := range p.Settings {
		flags = append(flags, "-c", s)
	}
	cmd := exec.CommandContext(ctx, p.Path, append(flags, args...)...) //nolint:gosec // the user configures the path
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.Env, strings.NewReader(stdin)
	cmd.WaitDelay = 5 * time.Second
	killGroup(cmd)
	stdout, stderr := &limitedBuffer{limit: p.MaxOutput, strict: true}, &limitedBuffer{limit: maxErrorText}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Start()
	if err == nil {
		if p.MaxMemory > 0 {
			limitMemory(cmd.Process.Pid, p.MaxMemory)
		}
		err = cmd.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case stdout.exceeded:
		return nil, ErrOutput
	case err != nil:
		return nil, &Error{Stderr: string(stderr.data), Err: err}
	}
	return stdout.data, nil
}

// Hardened returns settings that keep git from running or contacting anything that a configuration names.
func Hardened() []string {
	return []string{
		"core.hooksPath=" + os.DevNull, "core.fsmonitor=", "core.askPass=", "credential.helper=", "gc.auto=0",
		"maintenance.auto=false", "fetch.recurseSubmodules=false", "protocol.allow=never",
		"core.alternateRefsCommand=true",
	}
}

// limitedBuffer keeps the first bytes that are written to it. It embeds no [bytes.Buffer], because [io.Copy] would
// bypass the limit with ReadFrom.
type limitedBuffer struct {
	data     []byte
	limit    int64
	exceeded bool
	strict   bool // writing more is an error; otherwise the rest is dropped
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	space := min(max(b.limit-int64(len(b.data)), 0), int64(len(p)))
	b.data = append(b.data, p[:space]...)
	if b.exceeded = b.exceeded || space < int64(len(p)); b.exceeded && b.strict {
		return int(space), io.ErrShortWrite
	}
	return len(p), nil
}
