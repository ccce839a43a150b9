//go:build unix

package run_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/run"
)

// ExampleRun ends a command that does not end by itself, with its child processes.
func ExampleRun() {
	r, err := run.Run(context.Background(), run.Command{
		Argv:  []string{"sh", "-c", "echo working; sleep 1000 & wait"},
		Env:   run.Environment(os.Getenv, nil),
		Limit: time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%stimed out: %v, by %s\n", r.Stdout, r.TimedOut, r.Signal)
	// Output:
	// working
	// timed out: true, by SIGTERM
}

// ExampleShell shows that arguments are not part of the command's text.
func ExampleShell() {
	line, err := run.Shell("", "greet", "echo Hello", nil, []string{"$(whoami)", "and you"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", line.Argv)
	// Output:
	// ["sh" "-c" "echo Hello \"$@\"" "greet" "$(whoami)" "and you"]
}
