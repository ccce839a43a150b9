package mcpserver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/runtime/task"
)

// TestMain runs a task if this program was started for one, like skillpm task run-one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "run-task" {
		os.Exit(runTask(os.Args[2]))
	}
	os.Exit(m.Run())
}

func runTask(dir string) int {
	s := task.Open(filepath.Dir(dir), task.Options{Now: time.Now})
	if err := s.Run(context.Background(), filepath.Base(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
