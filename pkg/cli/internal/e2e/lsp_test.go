package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// self returns the path of a program that acts as this command: TestMain runs it under its name.
func self(t *testing.T) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "skillpm")
	if err := os.Symlink(binary, program); err != nil {
		t.Skip(err)
	}
	return program
}

// TestLSP runs the command like an editor: standard output has only protocol messages, and the exit code shows whether
// the editor shut the server down properly.
func TestLSP(t *testing.T) {
	message := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`
	const shutdown = `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`
	const exit = `{"jsonrpc":"2.0","method":"exit"}`
	for _, tt := range []struct {
		name   string
		args   []string
		input  []string
		code   int
		prints string // after the answer to initialize
		stderr string
	}{
		{"a whole session", nil, []string{initialize, shutdown, exit}, 0, message(`{"jsonrpc":"2.0","result":null,"id":2}`), ""},
		{"with --stdio", []string{"--stdio"}, []string{initialize, shutdown, exit}, 0, message(`{"jsonrpc":"2.0","result":null,"id":2}`), ""},
		{"exit without shutdown", nil, []string{initialize, exit}, 1, "", "before the shutdown request"},
		{"the end of the input", nil, []string{initialize}, 1, "", "before the shutdown request"},
		{"an unknown profile", []string{"--profile", "nobody"}, nil, 2, "", `unknown profile "nobody"`},
		{"an argument", []string{"x"}, nil, 2, "", `takes no arguments`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdin, stdout, stderr strings.Builder
			for _, body := range tt.input {
				stdin.WriteString(message(body))
			}
			cmd := exec.CommandContext(t.Context(), self(t), append([]string{"lsp"}, tt.args...)...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin.String()), &stdout, &stderr
			err := cmd.Run()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != tt.code {
				t.Errorf("got %v, want exit code %d", err, tt.code)
			}
			var length int
			out := stdout.String()
			if len(tt.input) > 0 {
				if _, err := fmt.Sscanf(out, "Content-Length: %d\r\n\r\n", &length); err != nil {
					t.Fatalf("%v in %q", err, out)
				}
				out = out[strings.Index(out, "{")+length:]
			}
			if out != tt.prints || !strings.Contains(stderr.String(), tt.stderr) || tt.stderr == "" && stderr.Len() > 0 {
				t.Errorf("got %q and on standard error %q", out, stderr.String())
			}
		})
	}
}
