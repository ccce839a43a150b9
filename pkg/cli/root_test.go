package cli

import (
	"bytes"
	"testing"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
)

// TestAsked makes each command alone, as it is made when a command line begins with its name: it says the same of
// itself as among the others, and what is no command's name has all of them made.
func TestAsked(t *testing.T) {
	help := func(needed []console.Command, name string) string {
		var out bytes.Buffer
		root := newRoot(&console.App{}, needed)
		root.SetOut(&out)
		root.SetArgs([]string{name, "--help"})
		if err := root.Execute(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return out.String()
	}
	for _, c := range commands() {
		if made := c.New(&console.App{}); made.Name() != c.Name {
			t.Errorf("the command of %q is called %q", c.Name, made.Name())
		}
		alone := commandPath([]string{c.Name, "install", "--x"})
		if len(alone) != 1 || alone[0].Name != c.Name {
			t.Errorf("%d commands are made for %s", len(alone), c.Name)
		}
		if got, want := help(alone, c.Name), help(commands(), c.Name); got != want {
			t.Errorf("%s alone says\n%s\nand not\n%s", c.Name, got, want)
		}
	}
	for _, args := range [][]string{{"-C", "load", "list"}, {"--json", "--config=load", "--config", "load", "-q", "list", "load"}, {"--directory=x", "--no-color", "--quiet", "list"}} {
		if got := commandPath(args); len(got) != 1 || got[0].Name != "list" {
			t.Errorf("%d commands are made for %q", len(got), args)
		}
	}
	for _, args := range [][]string{nil, {"help", "load"}, {"completion", "bash"}, {"__complete", "load", ""}, {"-C"}, {"-C", "load"}, {"--json", "help"}, {"-x", "list"}, {"--version"}, {"laod"}, {""}} {
		if got := len(commandPath(args)); got != len(commands()) {
			t.Errorf("%d commands are made for %q", got, args)
		}
	}
}

func TestUnknownCommandIsNear(t *testing.T) {
	var out, errs bytes.Buffer
	code := Execute(t.Context(), environ.Environment{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}, []string{"laod"})
	if code != diag.Usage || !bytes.Contains(errs.Bytes(), []byte("did you mean load?")) {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}

func BenchmarkStart(b *testing.B) {
	for name, args := range map[string][]string{"one": {"version"}, "all": {"--version"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newRoot(&console.App{}, commandPath(args))
			}
		})
	}
}
