package cli

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newInit(a *app) *cobra.Command {
	var o skillpm.InitOptions
	cmd := &cobra.Command{
		Use:     "init [OWNER/NAME]",
		Short:   "Write a skillpm.yaml in this directory",
		GroupID: "author",
		Long: `Write a skillpm.yaml. With OWNER/NAME the directory becomes a pack that can be
published; without, a project that uses packs.`,
		Example: "  skillpm init\n  skillpm init acme/deploy --description 'Roll out and roll back' --license Apache-2.0",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				o.Name = args[0]
			}
			path, err := c.Init(cmd.Context(), o)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]string{"path": path})
			}
			if !a.quiet {
				fmt.Fprintf(a.Stdout, "wrote %s\n", path)
			}
			if o.Name == "" {
				a.note("next: skillpm install owner/name")
			} else {
				a.note("next: skillpm new my-skill, then skillpm publish")
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
	var o skillpm.NewOptions
	cmd := &cobra.Command{
		Use:     "new [NAME]",
		Short:   "Write a new, valid skill",
		GroupID: "author",
		Long: `Write a directory with a valid SKILL.md: below skills/ in a pack, else here.
On a terminal it asks for what is missing.`,
		Example: `  skillpm new release-notes --description 'Writes release notes from git history. Use before a release.'
  skillpm new lint-sql --description 'Checks SQL files.' --scripts --dir skills`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				o.Name = args[0]
			}
			if err := a.ask(&o); err != nil {
				return err
			}
			dir, err := c.New(cmd.Context(), o)
			if err != nil {
				return err
			}
			shown := dir
			if rel, err := filepath.Rel(c.Dir, dir); err == nil {
				shown = rel
			}
			if a.json {
				return a.printJSON(map[string]string{"name": o.Name, "dir": shown})
			}
			if !a.quiet {
				fmt.Fprintf(a.Stdout, "wrote %s\n", filepath.Join(shown, "SKILL.md"))
			}
			a.note("next: write its steps, then skillpm validate %s", shown)
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

// ask asks on a terminal for the name and the description if they were not given.
func (a *app) ask(o *skillpm.NewOptions) error {
	interactive := terminal(a.Stdin) && terminal(a.Stderr) && a.Getenv("CI") == "" && !a.json
	in := bufio.NewReader(a.Stdin)
	for _, q := range []struct {
		prompt, flag string
		value        *string
	}{
		{"Name (lower-case words with hyphens): ", "NAME", &o.Name},
		{"Description (what it does and when to use it): ", "--description", &o.Description},
	} {
		if *q.value != "" {
			continue
		}
		if !interactive {
			return diag.Errorf(diag.Usage, "%s is missing", q.flag).
				WithHint("skillpm new my-skill --description 'What it does and when to use it.'")
		}
		fmt.Fprint(a.Stderr, q.prompt)
		line, err := in.ReadString('\n')
		if err != nil {
			return diag.Errorf(diag.Usage, "%s is missing", q.flag)
		}
		*q.value = strings.TrimSpace(line)
	}
	return nil
}
