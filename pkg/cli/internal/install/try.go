package install

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newTry(a *app) *cobra.Command {
	var o skillpm.TryOptions
	var body bool
	cmd := &cobra.Command{
		Use:   "try PACK [-- COMMAND [ARG...]]",
		Short: "Use a pack without installing it",
		Long: `The command fetches a pack and its dependencies into a temporary directory of the cache, and
shows the skills of the pack. The command does not change files of the project or the user,
and does not run anything in the pack.

With COMMAND, skillpm runs COMMAND in the current directory, and then removes the temporary
directory. skillpm replaces {} in an ARG with the path of the temporary directory. The
environment variable SKILLPM_TRY_DIR also contains this path. The skills are in the
subdirectories .agents/skills and .claude/skills. Without COMMAND, "skillpm cache gc"
removes the directory later. --body prints each SKILL.md and removes the directory.`,
		Example: `  skillpm try acme/deploy
  skillpm try acme/deploy@1.4.0 --skill deploy --body
  skillpm try github.com/owner/skills -- claude --add-dir {}`,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash == 0 || len(args) == 0 {
				return errors.New("skillpm try needs one PACK")
			} else if dash < 0 && len(args) > 1 || dash > 1 {
				return fmt.Errorf("unexpected argument %q: put the COMMAND after --", args[1])
			}
			return nil
		},
		ValidArgsFunction: a.CompletePacks,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.Pack = args[0]
			t, err := c.Try(cmd.Context(), o)
			if err != nil {
				return err
			}
			for _, w := range t.Warnings {
				a.Warn("%s", w)
			}
			if len(args) == 1 && !body {
				return errors.Join(a.printTrial(t), t.Unlock())
			}
			defer func() { _ = t.Close() }() // the rest is removed with the cache
			if len(args) == 1 {
				return a.printBodies(t)
			}
			return a.runWith(cmd, t.Dir, args[1:])
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Skills, "skill", nil, "use only the skill `NAME` of the pack (repeatable)")
	f.StringVar(&o.Registry, "registry", "", "look names up only in the registry `REGISTRY`")
	f.BoolVar(&o.Offline, "offline", false, "do not use the network")
	a.SigningFlags(cmd, &o.Signing)
	f.BoolVar(&body, "body", false, "print each SKILL.md")
	return cmd
}

// printTrial prints the contents of a pack.
func (a *app) printTrial(t *skillpm.Trial) error {
	if a.JSON {
		return a.PrintJSON(t)
	}
	p := a.Palette(a.Stdout)
	fmt.Fprintf(a.Stdout, "%s %s%s\n", p.Bold(t.Pack.Pack), t.Pack.Version, p.Dim("  from "+t.Pack.Source))
	for _, s := range t.Skills {
		fmt.Fprintf(a.Stdout, "  %s  %s\n", p.Bold(s.Name), console.Printable(s.Description))
		if s.AllowedTools != "" {
			fmt.Fprintf(a.Stdout, "      allowed tools: %s\n", console.Printable(s.AllowedTools))
		}
		fmt.Fprintf(a.Stdout, "      %s\n", p.Cyan(s.Dir))
	}
	for _, r := range t.Requires {
		fmt.Fprintf(a.Stdout, "  requires %s %s\n", r.Pack, r.Version)
	}
	a.Note("Nothing was installed. Install the pack with: skillpm install %s", t.Pack.Pack)
	return nil
}

// printBodies prints the skills as an agent reads them, on a terminal with invisible characters escaped.
func (a *app) printBodies(t *skillpm.Trial) error {
	for _, s := range t.Skills {
		data, err := os.ReadFile(filepath.Join(s.Dir, skill.File))
		if err != nil {
			return err
		}
		if _, err := io.WriteString(a.Content(a.Stdout), bodyText(data, console.Terminal(a.Stdout))); err != nil {
			return err
		}
	}
	return nil
}

// bodyText returns a text unchanged, or for a terminal with invisible characters escaped.
func bodyText(data []byte, terminal bool) string {
	if terminal {
		return textdiff.Visible(string(data))
	}
	return string(data)
}

// runWith runs a command with access to the skills, and exits with its code.
func (a *app) runWith(cmd *cobra.Command, dir string, args []string) error {
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{}", dir)
	}
	run := exec.CommandContext(cmd.Context(), args[0], args[1:]...)
	run.Stdin, run.Stdout, run.Stderr = a.Stdin, a.Stdout, a.Stderr
	run.Dir = a.Dir
	run.Env = append(run.Environ(), "SKILLPM_TRY_DIR="+dir)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	err := run.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return console.Reported{Exit: diag.Code(exit.ExitCode())}
	}
	if errors.Is(err, exec.ErrNotFound) {
		return diag.Errorf(diag.NotFound, "cannot run %s: command not found", args[0]).
			WithHint("install the program, or specify its path")
	}
	return err
}
