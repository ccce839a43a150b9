package author

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skill"
)

func newInit(a *app) *cobra.Command {
	var o publish.InitOptions
	cmd := &cobra.Command{
		Use:     "init [OWNER/NAME]",
		Short:   "Write a skillpm.yaml in this directory",
		GroupID: "author",
		Long: `Write a skillpm.yaml. With OWNER/NAME the directory becomes a pack that can be
published; without, a project that uses packs.`,
		Example: "  skillpm init\n  skillpm init acme/deploy --description 'Roll out and roll back' --license " +
			"Apache-2.0",
		Args: console.Need(0, 1, "at most one OWNER/NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Author()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				o.Name = args[0]
			} else if o.Description != "" || o.License != "" || o.Version != "" {
				return diag.Errorf(diag.Usage, "a pack needs a name").WithHint("skillpm init owner/name")
			}
			path, err := c.Init(cmd.Context(), o)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]string{"path": path})
			}
			if !a.Quiet {
				fmt.Fprintf(a.Stdout, "wrote %s\n", path)
			}
			if o.Name == "" {
				a.Note("next: skillpm install owner/name")
			} else {
				a.Note("next: skillpm new my-skill, then skillpm publish")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Version, "version", "", "the pack's version (default 0.1.0)")
	f.StringVar(&o.Description, "description", "", "what the pack is for, in one line")
	f.StringVar(&o.License, "license", "", "SPDX `EXPRESSION`, as Apache-2.0")
	return cmd
}

func newNew(a *app) *cobra.Command {
	var o publish.NewOptions
	cmd := &cobra.Command{
		Use:     "new [NAME]",
		Short:   "Write a new, valid skill",
		GroupID: "author",
		Long: `Write a directory with a valid SKILL.md: below skills/ in a pack, else here.
On a terminal it asks for what is missing.`,
		Example: `  skillpm new release-notes --description 'Writes release notes. Use before a release.'
  skillpm new lint-sql --description 'Checks SQL files.' --scripts --dir skills`,
		Args: console.Need(0, 1, "at most one NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Author()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				o.Name = args[0]
			}
			if err := a.ask(cmd.Context(), &o); err != nil {
				return err
			}
			dir, err := c.New(cmd.Context(), o)
			if err != nil {
				return err
			}
			display := dir
			if rel, err := filepath.Rel(c.Dir, dir); err == nil {
				display = rel
			}
			if a.JSON {
				return a.PrintJSON(map[string]string{"name": o.Name, "dir": display})
			}
			if !a.Quiet {
				fmt.Fprintf(a.Stdout, "wrote %s\n", filepath.Join(display, "SKILL.md"))
			}
			a.Note("next: write its steps, then skillpm validate %s", display)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Description, "description", "", "what the skill does and when to use it")
	f.StringVar(&o.License, "license", "", "SPDX `EXPRESSION`, as Apache-2.0")
	f.StringVar(&o.Dir, "dir", "", "make the skill's directory in `DIR`")
	f.BoolVar(&o.Scripts, "scripts", false, "with an example script")
	return cmd
}

// ask prompts on a terminal for a missing name and description.
func (a *app) ask(ctx context.Context, o *publish.NewOptions) error {
	in := bufio.NewReader(a.Stdin)
	for _, q := range []struct {
		prompt, flag string
		value        *string
		check        func(string) error
	}{
		{"Name (lower-case words with hyphens): ", "NAME", &o.Name, skill.CheckName},
		{"Description (what it does and when to use it): ", "--description", &o.Description, notEmpty},
	} {
		if *q.value != "" {
			continue
		}
		if !a.CanAsk() {
			return diag.Errorf(diag.Usage, "%s is missing", q.flag).
				WithHint("skillpm new %s --description 'What it does and when to use it.'", cmp.Or(o.Name, "my-skill"))
		}
		answer, err := a.prompt(ctx, in, q.prompt, q.check)
		if err != nil {
			return err
		}
		*q.value = answer
	}
	return nil
}

// prompt repeats a question until the answer is valid, the input ends, or the user interrupts.
func (a *app) prompt(ctx context.Context, in *bufio.Reader, question string, check func(string) error) (string, error) {
	type answer struct {
		line string
		err  error
	}
	for {
		fmt.Fprint(a.Stderr, question)
		answers := make(chan answer, 1)
		go func() { // a read cannot be interrupted; the process ends soon
			line, err := in.ReadString('\n')
			answers <- answer{strings.TrimSpace(line), err}
		}()
		select {
		case <-ctx.Done():
			fmt.Fprintln(a.Stderr)
			return "", ctx.Err()
		case got := <-answers:
			if got.err != nil {
				fmt.Fprintln(a.Stderr)
				return "", diag.Errorf(diag.Usage, "the input ended before everything was answered")
			}
			if err := check(got.line); err != nil {
				a.Warn("%v", err)
				continue
			}
			return got.line, nil
		}
	}
}

func notEmpty(s string) error {
	if s == "" {
		return errors.New("it can't be empty")
	}
	return nil
}
