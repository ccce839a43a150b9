package serve

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

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
		Use:     "run SKILL [ARGS...]",
		Short:   "Run a skill's command or script",
		GroupID: "serve",
		Long: `Run the command of a skill's frontmatter, or with --script one of its files.
Only the command and its output come back: the output as it comes, the command on
standard error. Arguments that begin with a hyphen stand after --.

A script is a regular file inside the skill. An executable one is started itself,
others by the interpreter of their extension: .sh, .py, .js, .ts, .rb, .pl, .php,
.lua, .r, .ps1. The command of a frontmatter is read by sh; the arguments are its
"$1", "$2" and "$@", never a part of its text. A skill without a command is
instructions: skillpm load prints them.

It runs in the directory that skillpm runs in, with $SKILL_DIR saying where the
skill is, and with a clean environment: PATH, HOME, the language and a few more,
but no secrets; --env NAME passes a variable on. After 90 seconds (skills.script-limit,
or a shorter --timeout) it is killed with all that it started, and so it is
when skillpm is interrupted. Every run is recorded in the audit log.

To run a command is to invoke the skill, and so is a script of one that is not active
in the --session: its frontmatter says whether the model may, or with --trigger user
the user. Other skills that are active must let the shell tool run it.

The exit code is the command's own, 128 and the signal's number if a signal ended
it, and 1 at the limit.`,
		Example: `  skillpm run deploy --list
  skillpm run deploy --script scripts/preflight.sh staging shop checkout app registry.example/shop/checkout:1.4.0
  skillpm run deploy --script scripts/preflight.sh --timeout 20s --json -- staging shop checkout app ` +
			`registry.example/shop/checkout:1.4.0
  skillpm run convert README.md     a skill of yours that has a command`,
		Args: console.Need(1, manyArguments, "a SKILL and its arguments"),
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
	flags.StringVar(&o.trigger, "trigger", string(session.Model), "who asks for the skill: `user|model`")
	flags.BoolVar(&o.list, "list", false, "list what the skill can run")
	flags.DurationVar(&o.timeout, "timeout", 0, "kill it after `DURATION`, as 20s")
	flags.StringArrayVar(&o.env, "env", nil, "pass the variable `NAME` on, or set NAME=VALUE")
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
		o.Stdout, o.Stderr = a.tame(a.Stdout), a.tame(a.Stderr)
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
		err := a.PrintJSON(map[string]any{
			"skill": skill.Name, "command": res.Argv, "exitCode": res.ExitCode, "signal": res.Signal,
			"stdout": string(res.Stdout), "stderr": string(res.Stderr), "durationMs": res.Duration.Milliseconds(),
			"truncated": res.Truncated, "timedOut": res.TimedOut,
		})
		if err != nil {
			return err
		}
	}
	if res.TimedOut {
		a.JSON = false // the document is complete; the rest is for users
		return diag.Errorf(diag.Internal, "%s did not end within %s and was killed", skill.Name, o.Limit).
			WithHint("do less at once, or raise skills.script-limit in config.yaml")
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
		return 0, diag.Errorf(diag.Usage, "--timeout %s is no duration", requested).WithHint("as in --timeout 20s")
	case requested > most:
		return 0, diag.Errorf(diag.Usage, "--timeout %s is longer than the limit of %s", requested, most).
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
			return nil, diag.Errorf(diag.Usage, "--env %q names no variable", n)
		}
		if !ok {
			if value = a.Getenv(name); value == "" {
				return nil, diag.Errorf(diag.Usage, "--env %s: the variable is not set", name).
					WithHint("set it, or write --env %s=VALUE", name)
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
		return a.PrintJSON(map[string]any{"skill": skill.Name, "command": loaded.Front.Command, "scripts": scripts})
	}
	if loaded.Front.Command != "" {
		fmt.Fprintf(a.Stdout, "command: %s\n", console.Flat(loaded.Front.Command))
	}
	for _, s := range scripts {
		fmt.Fprintln(a.Stdout, console.Printable(s))
	}
	if loaded.Front.Command == "" && len(scripts) == 0 {
		a.Note("%s has nothing to run: skillpm load %s prints its instructions", skill.Name, skill.Name)
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

// tame wraps a stream that is a terminal, so that scripts cannot send control sequences to it.
func (a *app) tame(w io.Writer) io.Writer {
	if !console.Terminal(w) {
		return w
	}
	return &tamed{out: w}
}

// tamed writes text with control and format characters escaped.
type tamed struct {
	out  io.Writer
	half []byte // an incomplete character
}

func (t *tamed) Write(data []byte) (int, error) {
	text := append(t.half, data...)
	size := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if rest := text[len(text)-n:]; utf8.RuneStart(rest[0]) {
			if !utf8.FullRune(rest) {
				size -= n
			}
			break
		}
	}
	t.half = append([]byte(nil), text[size:]...)
	if _, err := io.WriteString(t.out, console.Printable(string(text[:size]))); err != nil {
		return 0, err
	}
	return len(data), nil
}
