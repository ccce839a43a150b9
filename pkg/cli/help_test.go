package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/environ"
)

const (
	screenWidth  = 80
	screenHeight = 24
)

// each calls f for all visible commands below cmd.
func each(cmd *cobra.Command, f func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			f(c)
			each(c, f)
		}
	}
}

// TestHelpFits proves that no help is wider than 80 columns, and that the short help has at most 24 lines.
func TestHelpFits(t *testing.T) {
	root := newRoot(&console.App{}, commands())
	check := func(name, text string, height int) {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if height > 0 && len(lines) > height {
			t.Errorf("%s has %d lines", name, len(lines))
		}
		for _, line := range lines {
			if console.Cells([]rune(line)) > screenWidth {
				t.Errorf("%s: %d columns: %s", name, console.Cells([]rune(line)), line)
			}
		}
	}
	each(root, func(c *cobra.Command) {
		var short, long bytes.Buffer
		console.PrintHelp(&short, c, false)
		console.PrintHelp(&long, c, true)
		check(c.CommandPath()+" -h", short.String(), screenHeight)
		check(c.CommandPath()+" --help", long.String(), 0)
		_, examples, _ := strings.Cut(short.String(), "\nExamples:\n")
		examples, _, _ = strings.Cut(examples, "\n\n")
		if n := strings.Count(examples, "\n  ") + 1; c.Name() != "help" && n != 3 {
			t.Errorf("%s -h has %d examples", c.CommandPath(), n)
		}
	})
	for _, args := range [][]string{nil, {"help"}, {"help", "--all"}, {"--help"}, {"-h"}} {
		var out bytes.Buffer
		env := environ.Environment{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
		if code := Execute(t.Context(), env, args); code != 0 {
			t.Errorf("%q: exit %d", args, code)
		}
		check("skillpm "+strings.Join(args, " "), out.String(), 0)
	}
}

// TestSurface proves that the overviews list every command exactly once, and that the first one is short.
func TestSurface(t *testing.T) {
	const most = 32
	listed, first := map[string]int{}, 0
	for i, g := range append(append([]console.HelpGroup{}, groups...), moreGroups...) {
		for _, name := range g.Names {
			listed[name]++
			if i < len(groups) {
				first++
			}
		}
	}
	if first > most {
		t.Errorf("the overview has %d commands", first)
	}
	for _, c := range commands() {
		if listed[c.Name] != 1 {
			t.Errorf("%s is listed %d times", c.Name, listed[c.Name])
		}
		delete(listed, c.Name)
	}
	for name := range listed {
		t.Errorf("%s is listed and does not exist", name)
	}
}

// TestFlagVariables proves that no environment variable sets a flag that lowers a check, confirms, or grants, and that
// variables set all other flags.
func TestFlagVariables(t *testing.T) {
	for _, flag := range []string{
		"accept-changed", "accept-signer", "allow-dirty", "allow-downgrade", "allow-origin", "allow-shell", "anyway",
		"command", "config", "env", "force", "key", "no-check", "no-hooks", "rerank", "signing-key", "trigger", "undo", "upstream",
		"upstream-config", "yes",
		"all", "changed", "changed-since", "expires", "fetch", "from", "http", "inline", "latest", "no-skills", "parent", "registry",
		"run", "script", "text", "token-file", "update", "upgrade",
	} {
		if !noVariable[flag] {
			t.Errorf("%s sets --%s", variable(flag), flag)
		}
	}
	run := func(vars map[string]string, args ...string) (string, int) {
		var out bytes.Buffer
		dir := t.TempDir()
		env := environ.Environment{Stdout: &out, Stderr: &out, Dir: dir, Getenv: func(name string) string { return vars[name] }}
		env.Paths.Home = dir
		code := Execute(t.Context(), env, args)
		return out.String(), int(code)
	}
	if out, code := run(map[string]string{"SKILLPM_JSON": "1"}, "version"); code != 0 || !strings.Contains(out, `"version"`) {
		t.Errorf("SKILLPM_JSON: exit %d: %s", code, out)
	}
	if out, code := run(map[string]string{"SKILLPM_JSON": "maybe"}, "version"); code != 2 || !strings.Contains(out, "SKILLPM_JSON") {
		t.Errorf("SKILLPM_JSON=maybe: exit %d: %s", code, out)
	}
	strict := map[string]string{"SKILLPM_STRICT": "false", "SKILLPM_OFFLINE": "0", "SKILLPM_SCOPE": "machine"}
	for _, name := range []string{"validate", "install", "approve", "deny"} {
		root := newRoot(&console.App{}, commands())
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.ParseFlags(nil)
		a := &console.App{}
		a.Getenv = func(name string) string { return strict[name] }
		if err := setFromEnvironment(a, cmd); err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Changed && (name != "install" || f.Name != "scope") {
				t.Errorf("%s: a variable sets --%s to %s", name, f.Name, f.Value)
			}
		})
	}
	if out, _ := run(map[string]string{"SKILLPM_JSON": "1"}, "version", "--json=false"); strings.Contains(out, `"version"`) {
		t.Errorf("the command line does not override the variable: %s", out)
	}
}
