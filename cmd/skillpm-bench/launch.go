package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// launchCommand is the argument that makes this program a launcher; it is not for people.
const launchCommand = "launch"

// job is what is measured together: some commands, one after another.
type job struct {
	Steps [][]string // programs with their arguments
	Dir   string     // where they run
	Env   []string   // all of their environment
	Log   string     // the file that gets what they print
}

// usage is what a job took.
type usage struct {
	Wall time.Duration // from before the first command is started until the last one is reaped
	CPU  time.Duration // user and system, of the commands and the processes that they waited for
	Peak int64         // bytes resident, of the largest process among them; 0 where the system does not say
}

// outcome is what a launcher reports.
type outcome struct {
	Usage usage
	Error string
}

// launch measures a job in a process of its own. A process inherits its parent's peak of memory until it has become
// another program, so the parent has to be small: this process, which has servers in it, is not.
func (s system) launch(ctx context.Context, j job) (usage, error) {
	request, err := json.Marshal(j)
	if err != nil {
		return usage{}, err
	}
	cmd := exec.CommandContext(ctx, s.Self, launchCommand)
	cmd.Stdin = bytes.NewReader(request)
	cmd.Stderr = s.Stderr
	ownGroup(cmd) // so that an interrupt ends all of it
	answer, err := cmd.Output()
	if err := context.Cause(ctx); err != nil {
		return usage{}, err
	}
	if err != nil {
		return usage{}, fmt.Errorf("launcher: %w", err)
	}
	var o outcome
	if err := json.Unmarshal(answer, &o); err != nil {
		return usage{}, fmt.Errorf("launcher: %w", err)
	}
	if o.Error != "" {
		return usage{}, fmt.Errorf("%s%s", o.Error, logEnd(j.Log))
	}
	return o.Usage, nil
}

// launcher is the other side: it reads a job from standard input, runs it and writes the outcome to standard output.
func (s system) launcher() error {
	var j job
	if err := json.NewDecoder(s.Stdin).Decode(&j); err != nil {
		return err
	}
	var o outcome
	if err := s.measure(j, &o.Usage); err != nil {
		o.Error = err.Error()
	}
	return json.NewEncoder(s.Stdout).Encode(o)
}

func (s system) measure(j job, u *usage) error {
	log, err := os.Create(j.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	start := s.Now()
	for _, step := range j.Steps {
		cmd := exec.Command(step[0], step[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = j.Dir, j.Env, log, log
		err := cmd.Run()
		u.Wall = s.Now().Sub(start)
		if state := cmd.ProcessState; state != nil {
			u.CPU += state.UserTime() + state.SystemTime()
			u.Peak = max(u.Peak, peakOf(state))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(step, " "), err)
		}
	}
	return nil
}

// logEnd returns the last lines that a job printed, to be put behind an error.
func logEnd(path string) string {
	const most = 800
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		if _, err := f.Seek(max(0, size-most), io.SeekStart); err != nil {
			return ""
		}
	}
	data, err := io.ReadAll(f)
	if text := strings.TrimSpace(string(data)); err == nil && text != "" {
		return "\n" + text
	}
	return ""
}

// output runs a command that is not measured and returns what it prints.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	output := ""
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		output = "\n" + strings.TrimSpace(string(exit.Stderr))
	}
	return "", fmt.Errorf("%s %s: %w%s", name, strings.Join(args, " "), err, output)
}
