package author

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

func newInit(a *app) *cobra.Command {
	var o publish.InitOptions
	var evals bool
	cmd := &cobra.Command{
		Use:   "init [OWNER/NAME]",
		Short: "Create a skillpm.yaml",
		Long: `With OWNER/NAME, the command makes this directory a pack that you can publish. Without
OWNER/NAME, it makes the directory a project that uses packs. If skillpm.yaml exists, the
command adds the name and a version to skillpm.yaml.

--evals adds a sample evaluation to each skill of the pack that does not have one.
evals/evals.json has tasks. evals/eval_queries.json has trigger queries: prompts that should
or should not activate the skill. In an existing pack, --evals needs no OWNER/NAME.`,
		Example: `  skillpm init
  skillpm init acme/deploy
  skillpm init --evals
  skillpm init acme/deploy --license Apache-2.0 --pack-version 1.0.0`,
		Args: console.Need(0, 1, "one OWNER/NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Author()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				o.Name = args[0]
			} else if o.Description != "" || o.License != "" || o.Version != "" {
				return diag.Errorf(diag.Usage, "--pack-version, --description, and --license need OWNER/NAME").
					WithHint("run \"skillpm init OWNER/NAME\"")
			}
			return a.init(cmd.Context(), c, o, evals)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Version, "pack-version", "", "set the pack's `VERSION` (default 0.1.0)")
	f.StringVar(&o.Description, "description", "", "set the pack's description to `TEXT`, one line")
	f.StringVar(&o.License, "license", "", "set the license, an SPDX `EXPRESSION` such as Apache-2.0")
	f.BoolVar(&evals, "evals", false, "add a sample evaluation to each skill without one")
	return cmd
}

// init creates or extends skillpm.yaml. With evals and without a name, an existing file stays as it is.
func (a *app) init(ctx context.Context, c *publish.Client, o publish.InitOptions, evals bool) error {
	done, path := "Created", filepath.Join(c.Dir, pack.ManifestName)
	_, err := os.Lstat(path)
	exists := err == nil
	if exists {
		done = "Added name and version to"
	}
	if !exists || !evals || o.Name != "" {
		if path, err = c.Init(ctx, o); err != nil {
			return err
		}
		if !a.Quiet && !a.JSON {
			fmt.Fprintf(a.Stdout, "%s %s\n", done, path)
		}
	}
	document := initDocument{Path: path, Evals: []string{}}
	if evals {
		files, err := c.AddEvals()
		if err != nil {
			return err
		}
		for _, file := range files {
			if rel, ok := pathx.Rel(c.Dir, file); ok {
				file = rel
			}
			document.Evals = append(document.Evals, file)
			if !a.Quiet && !a.JSON {
				fmt.Fprintf(a.Stdout, "Created %s\n", file)
			}
		}
	}
	switch {
	case a.JSON:
		return a.PrintJSON(document)
	case len(document.Evals) > 0:
		a.Note("Next, replace the sample prompts with prompts of your users, and run \"skillpm test\".")
	case evals:
		a.Note("Each skill has an evaluation. Create a skill with: skillpm new my-skill")
	case o.Name == "":
		a.Note("Next, add a pack with: skillpm install OWNER/NAME")
	case hasSkills(c.Dir):
		a.Note("Next, run \"skillpm validate\", and then \"skillpm publish\".")
	default:
		a.Note("Next, create a skill with: skillpm new my-skill")
	}
	return nil
}

// hasSkills reports whether a pack's directory has skills already.
func hasSkills(dir string) bool {
	for _, pattern := range []string{"SKILL.md", "*/SKILL.md", "skills/*/SKILL.md"} {
		if found, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern))); len(found) > 0 {
			return true
		}
	}
	return false
}

func newNew(a *app) *cobra.Command {
	var o publish.NewOptions
	var flags console.RuntimeFlags
	cmd := &cobra.Command{
		Use:   "new [NAME]",
		Short: "Create a skill",
		Long: `The command creates a directory with a valid SKILL.md and a sample evaluation.
evals/evals.json has tasks. evals/eval_queries.json has trigger queries: prompts that should
or should not activate the skill. In a pack, the skill's directory is in skills/; in
a project, where the project's profile finds it (default: .agents/skills); elsewhere, in
this directory. On a terminal, the command asks for a missing name and description. Without
a terminal, NAME and --description are required.`,
		Example: `  skillpm new release-notes --description 'Writes release notes.'
  skillpm new lint --description 'Lints files.' --tools 'Read, Bash(eslint:*)'
  skillpm new lint --description 'Lints files.' --tags js,quality --scripts`,
		Args: console.Need(0, 1, "one NAME"),
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
			h, err := a.Host(cmd.Context(), &flags)
			if err != nil {
				return err
			}
			o.Profile, o.Project = h.Profile(), h.Project()
			o.Named = h.NamesProfile() || h.Recognized() != ""
			dir, err := c.New(cmd.Context(), o)
			if err != nil {
				return err
			}
			display := dir
			if rel, err := filepath.Rel(c.Dir, dir); err == nil {
				display = rel
			}
			if a.JSON {
				return a.PrintJSON(newDocument{o.Name, display})
			}
			if !a.Quiet {
				fmt.Fprintf(a.Stdout, "Created %s\n", filepath.Join(display, "SKILL.md"))
			}
			a.Note("Next, write the instructions, and check the skill with: skillpm validate %s", display)
			a.Note("Replace the sample prompts in %s with prompts of your users.",
				filepath.Join(display, "evals"))
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Description, "description", "", "set the description to `TEXT`: what the skill does and when to use it")
	f.StringVar(&o.License, "license", "", "set the license, an SPDX `EXPRESSION` such as Apache-2.0")
	f.StringArrayVar(&o.Tools, "tools", nil, "allow only `TOOLS`, such as 'Read, Bash(git log:*)'; repeatable")
	f.StringSliceVar(&o.Tags, "tags", nil, "set the `TAGS`, separated by commas")
	f.StringVar(&flags.Profile, "profile", "",
		"use the rules of the profile `ID` (default: the project's, or "+profile.Runtime+")")
	f.StringVar(&o.Dir, "dir", "", "create the skill in `DIR`")
	f.BoolVar(&o.Scripts, "scripts", false, "add an example script")
	a.CompleteFlag(cmd, "profile", a.CompleteProfiles)
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
		{"Name (lowercase words with hyphens): ", "NAME", &o.Name, skill.CheckName},
		{
			"Description (what the skill does and when to use it, such as \"Writes release notes. Use before a release.\"): ",
			"--description", &o.Description, notEmpty,
		},
	} {
		if *q.value != "" {
			continue
		}
		if !a.CanAsk() {
			return diag.Errorf(diag.Usage, "cannot create a skill: %s is missing", q.flag).
				WithHint("run: skillpm new %s --description '%s'", cmp.Or(o.Name, "my-skill"),
					lint.TemplateDescription)
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
		bug.Go(func() { // a read cannot be interrupted; the process ends soon
			line, err := in.ReadString('\n')
			answers <- answer{strings.TrimSpace(line), err}
		})
		select {
		case <-ctx.Done():
			fmt.Fprintln(a.Stderr)
			return "", ctx.Err()
		case got := <-answers:
			if got.err != nil {
				fmt.Fprintln(a.Stderr)
				return "", diag.Errorf(diag.Usage, "cannot read the answer: standard input has ended")
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
		return errors.New("the answer must not be empty")
	}
	return nil
}
