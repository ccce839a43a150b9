package task_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/runtime/task"
)

// TestSubmitDuringScript submits a task in a process that also runs a script, like an MCP server. The end of the script
// does not end the task, whose runner is a child of the process without the script's mark.
func TestSubmitDuringScript(t *testing.T) {
	run.Adopt()
	stdin, release := io.Pipe()
	stdout, started := io.Pipe()
	ended := make(chan error)
	go func() {
		_, err := run.Run(t.Context(), run.Command{
			Argv: []string{"/bin/sh", "-c", "echo started; read line"}, Env: os.Environ(), Dir: "/",
			Stdin: stdin, Stdout: started, Limit: time.Minute,
		})
		ended <- err
	}()
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	w := newFixture(t).sh(`until [ -e "$1/go" ]; do sleep 0.01; done`)
	submitted := w.submit(task.Request{})
	_ = release.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Wait(t.Context(), submitted.ID); err != nil || got.State != task.Succeeded {
		t.Errorf("%+v, %v", got, err)
	}
}
