// Package interpreter checks the syntax of Python, JavaScript, and TypeScript with the python3 and node of this machine.
// Start reading at [Checker.Check].
//
// The rules it keeps:
//
//   - Nothing of a script is executed. A program of this package, which is passed to the interpreter on its command
//     line, reads scripts as data, and only compiles them.
//   - Interpreters start in the root directory, and without the variables that configure them, so no file next to a
//     script is loaded.
//   - One process of each interpreter checks all scripts. If it crashes, or does not answer in time, the script does not
//     have a problem, and a new process checks the next one.
//   - A script that a host may complete before it runs it does not have a problem: one with template placeholders,
//     JSX, or a return statement outside of functions.
//   - Without an interpreter, or with one that cannot parse the language, no script has a problem.
//
// This package may change at any time.
package interpreter

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/lint"
)

//go:embed check.py
var checkPython string

//go:embed check.js
var checkJavaScript string

// Limits of an interpreter.
const (
	maxAnswer = 64 << 10         // bytes of an answer
	timeout   = 10 * time.Second // for one script
	maxStarts = 10               // how often a crashed interpreter is started again
)

// Checker checks scripts. It may be used by several goroutines.
type Checker struct {
	python, node worker
}

// New returns a checker that looks for interpreters in the PATH of an environment. It starts none.
func New(e environ.Environment) *Checker {
	return &Checker{
		python: worker{env: e, program: "python3", args: []string{"-I", "-S", "-c", checkPython}},
		node: worker{
			env: e, program: "node", args: []string{"--no-warnings", "--expose-internals", "--experimental-vm-modules", "-e", checkJavaScript},
		},
	}
}

// Close ends the interpreters.
func (c *Checker) Close() {
	c.python.close()
	c.node.close()
}

// Check returns the first syntax error of a script, or nil. The name selects the language.
func (c *Checker) Check(name string, text []byte) *lint.ScriptProblem {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".py":
		return c.python.check(ext, text)
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
		return c.node.check(ext, text)
	}
	return nil
}

// worker is one interpreter.
type worker struct {
	env     environ.Environment
	program string
	args    []string

	mu      sync.Mutex
	starts  int
	cmd     *exec.Cmd // nil if it does not run
	in      io.WriteCloser
	answers *bufio.Scanner
}

// request is a line that an interpreter reads.
type request struct {
	Extension string `json:"extension"`
	Text      []byte `json:"text"` // in base64
}

// answer is the line that it prints: empty if the script does not have a problem.
type answer struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"` // in characters, 0 if unknown
	Message string `json:"message"`
}

func (w *worker) check(extension string, text []byte) *lint.ScriptProblem {
	line, err := json.Marshal(request{extension, text})
	if err != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd == nil && !w.start() {
		return nil
	}
	process := w.cmd.Process
	kill := time.AfterFunc(timeout, func() { _ = process.Kill() })
	defer kill.Stop()
	var a answer
	_, err = w.in.Write(append(line, '\n'))
	if err != nil || !w.answers.Scan() || json.Unmarshal(w.answers.Bytes(), &a) != nil {
		w.stop()
		return nil
	}
	if a.Message == "" {
		return nil
	}
	return &lint.ScriptProblem{Line: a.Line, Column: a.Column, Message: w.program + ": " + a.Message}
}

// start starts the interpreter, and reports whether it runs.
func (w *worker) start() bool {
	if w.starts++; w.starts > maxStarts || w.env.Getenv == nil {
		return false
	}
	file, ok := environ.LookPath(w.program, w.env.Getenv("PATH"))
	if !ok {
		w.starts = maxStarts
		return false
	}
	cmd := exec.Command(file, w.args...)
	cmd.Dir = filepath.VolumeName(w.env.Dir) + string(filepath.Separator)
	for _, v := range w.env.Variables() {
		if !strings.HasPrefix(strings.ToUpper(v), "PYTHON") && !strings.HasPrefix(strings.ToUpper(v), "NODE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return false
	}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return false
	}
	w.cmd, w.in, w.answers = cmd, in, bufio.NewScanner(out)
	w.answers.Buffer(nil, maxAnswer)
	return true
}

// stop ends the interpreter after an error.
func (w *worker) stop() {
	_ = w.in.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
	w.cmd = nil
}

func (w *worker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd != nil {
		w.stop()
	}
}
