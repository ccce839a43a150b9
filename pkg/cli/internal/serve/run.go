package serve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill"
)

// runFlags are the flags of the run command.
type runFlags struct {
	script  string
	list    bool
	timeout time.Duration
	env     []string
	trigger string
}

func newRun(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	var o runFlags
	cmd := &cobra.Command{
		Use:   "run SKILL [ARGS...]",
		Short: "Run a script of a skill",
		Long: `--script selects a file of the skill. Without --script, the command in the skill's
frontmatter runs. skillpm prints the output while the script runs. Put arguments that
begin with a hyphen after --.

A script is a regular file in the skill. skillpm runs executable files directly, and other
files with the interpreter for their extension: .sh, .py, .js, .ts, .rb, .pl, .php, .lua,
.r, .ps1. sh runs the command of a frontmatter, with the arguments as "$1", "$2", and "$@".

The script runs in the current directory, with the skill's directory in $SKILL_DIR. The
environment of the script has PATH, HOME, the language, and a few more variables, but no secrets.
--env NAME adds a variable. If a policy or the skill requires a sandbox, and this machine
does not have a sandbox, the script does not run. skillpm kills the script with all its
processes after 90 seconds (skills.script-limit, or a shorter --timeout), or when you
interrupt skillpm. The audit log records every run.

If the skill is not active in --session, the frontmatter must allow the model to activate the
skill. With --trigger user, the frontmatter must allow the user instead. Without --session,
--script does not need this permission. All other active skills must allow the shell tool.

The exit code is that of the script. If a signal ends the script, the exit code is 128
plus the number of the signal. At the time limit, the exit code is 1.`,
		Example: `  skillpm run deploy --list
  skillpm run deploy --script scripts/preflight.sh staging shop checkout
  skillpm run deploy --script scripts/preflight.sh --timeout 20s -- staging shop
  skillpm run convert README.md  # a skill with a command`,
		Args: console.Need(1, manyArguments, "a SKILL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			if err := checkTrigger(o.trigger); err != nil {
				return err
			}
			if o.list {
				return a.listScripts(cmd.Context(), h, args[0])
			}
			return a.runSkill(cmd.Context(), h, args, o)
		},
		ValidArgsFunction: a.CompleteSkills,
	}
	f = a.RuntimeFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.script, "script", "", "run `FILE` of the skill")
	flags.StringVar(&o.trigger, "trigger", string(session.Model), "activate the skill as the `user|model`")
	flags.BoolVar(&o.list, "list", false, "list the skill's scripts")
	flags.DurationVar(&o.timeout, "timeout", 0, "kill the script after `DURATION`, such as 20s")
	flags.StringArrayVar(&o.env, "env", nil, "pass the variable `NAME`, or set NAME=VALUE; repeatable")
	a.CompleteFlag(cmd, "script", a.completeScripts)
	a.CompleteFlag(cmd, "timeout", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "env", a.completeVariables)
	a.CompleteFlag(cmd, "trigger", cobra.FixedCompletions([]string{string(session.User), string(session.Model)},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// runSkill runs a script and streams its output, or prints it in a JSON document.
func (a *app) runSkill(ctx context.Context, h *runtime.Host, args []string, f runFlags) error {
	o := session.RunOptions{Script: f.script, Args: args[1:], Trigger: session.Trigger(f.trigger)}
	var err error
	if o.Limit, err = scriptLimit(h, f.timeout); err != nil {
		return err
	}
	if o.Env, err = a.passedOn(f.env); err != nil {
		return err
	}
	skill, err := h.Lookup(ctx, args[0])
	if err != nil {
		return err
	}
	if !console.Terminal(a.Stdin) { // a script does not have a terminal
		o.Stdin = a.Stdin
	}
	o.Warn = func(text string) { a.Warn("%s", text) }
	if !a.JSON {
		o.Stdout, o.Stderr = a.Content(a.Stdout), a.Content(a.Stderr)
		if !a.Quiet {
			o.Begin = func(k *catalog.Skill) { a.announce(k, o) }
		}
	}
	// if the reader of the output leaves, the script gets SIGPIPE, and the run is still recorded
	undo := console.OutlivePipes()
	res, err := h.Run(ctx, args[0], o)
	undo()
	if err != nil {
		return err
	}
	if a.JSON {
		err := a.PrintJSON(runDocument{
			Skill: skill.Name, Command: res.Argv, ExitCode: res.ExitCode, Signal: res.Signal,
			Stdout: string(res.Stdout), Stderr: string(res.Stderr), DurationMS: res.Duration.Milliseconds(),
			Truncated: res.Truncated, TimedOut: res.TimedOut,
		})
		if err != nil {
			return err
		}
	}
	if res.TimedOut {
		a.JSON = false // the document is complete; the rest is for users
		raise := "raise skills.script-limit in config.yaml"
		if f.timeout > 0 {
			raise = "use a longer --timeout"
		}
		return diag.Errorf(diag.Internal, "the script of skill %s did not end within %s", skill.Name, o.Limit).
			WithHint("%s, or let the script do less", raise)
	}
	if res.ExitCode != 0 {
		return console.Reported{Exit: diag.Code(res.ExitCode)}
	}
	return nil
}

// announce prints the script on standard error before it runs.
func (a *app) announce(k *catalog.Skill, o session.RunOptions) {
	l, err := k.Load()
	if err != nil {
		return // it was read just before
	}
	what := o.Script
	if what == "" {
		what = l.Front.Command
	}
	a.Remark("running " + strings.TrimSpace(what+" "+skill.JoinArguments(o.Args)))
}

// scriptLimit returns the time limit of a script: the requested one, up to the limit in the settings.
func scriptLimit(h *runtime.Host, requested time.Duration) (time.Duration, error) {
	most := h.Config().Skills.ScriptLimit
	if most <= 0 {
		most = session.DefaultScriptLimit
	}
	switch {
	case requested < 0:
		return 0, diag.Errorf(diag.Usage, "--timeout must not be negative: %s", requested).
			WithHint("use a duration such as 20s")
	case requested > most:
		return 0, diag.Errorf(diag.Usage, "--timeout %s exceeds the limit of %s", requested, most).
			WithHint("raise skills.script-limit in config.yaml")
	case requested > 0:
		return requested, nil
	}
	return most, nil
}

// passedOn returns the environment variables that --env names.
func (a *app) passedOn(names []string) (map[string]string, error) {
	env := make(map[string]string, len(names))
	for _, n := range names {
		name, value, ok := strings.Cut(n, "=")
		if name == "" {
			return nil, diag.Errorf(diag.Usage, "--env %q does not name a variable", n).
				WithHint("use --env NAME, or --env NAME=VALUE")
		}
		if !ok {
			if value = a.Getenv(name); value == "" {
				return nil, diag.Errorf(diag.Usage, "cannot pass --env %s: the variable is not set or is empty", name).
					WithHint("set the variable, or use --env %s=VALUE", name)
			}
		}
		env[name] = value
	}
	return env, nil
}

// listScripts prints the scripts of a skill.
func (a *app) listScripts(ctx context.Context, h *runtime.Host, name string) error {
	skill, err := h.Lookup(ctx, name)
	if err != nil {
		return err
	}
	loaded, err := skill.Load()
	if err != nil {
		return err
	}
	scripts, err := session.Scripts(skill.Dir)
	if err != nil {
		return err
	}
	if a.JSON {
		if scripts == nil {
			scripts = []string{}
		}
		return a.PrintJSON(scriptsDocument{skill.Name, loaded.Front.Command, scripts})
	}
	if loaded.Front.Command != "" {
		fmt.Fprintf(a.Stdout, "command: %s\n", console.Flat(loaded.Front.Command))
	}
	for _, s := range scripts {
		fmt.Fprintln(a.Stdout, console.Printable(s))
	}
	if loaded.Front.Command == "" && len(scripts) == 0 {
		a.Note("%s does not contain scripts. Print the instructions with: skillpm load %s", skill.Name, skill.Name)
	}
	return nil
}

// completeScripts completes the scripts of the named skill.
func (a *app) completeScripts(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c := a.CompletionCatalog(cmd)
	if c == nil || len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	skill, err := c.Lookup(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	scripts, err := session.Scripts(skill.Dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return console.Matching(scripts, prefix), cobra.ShellCompDirectiveNoFileComp
}

// completeVariables completes the names of environment variables.
func (a *app) completeVariables(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, v := range a.Variables() {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}
