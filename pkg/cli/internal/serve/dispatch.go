package serve

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/dispatch"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

func newDispatch(a *app) *cobra.Command {
	var (
		f                         *console.RuntimeFlags
		o                         dispatch.Options
		format, language, trigger string
		timeout                   time.Duration
	)
	cmd := &cobra.Command{
		Use:     "dispatch LINE",
		Short:   "Execute one line of the dispatch protocol",
		GroupID: "serve",
		Long: `Carry out one dispatch, version 3 of the protocol, and print the reply for another
agent to read. LINE is 'execute @SKILL ARGUMENTS', where run and 执行 mean the same, or
the whole Task("skills", "<3 to 5 words>", "execute @SKILL …", {model: "sonnet"}), or
its JSON; - reads it from standard input.

A skill whose frontmatter has a command is executed, for 90 seconds at most, or what
skills.script-limit says. Of one without, the reply holds the instructions. Missing
parameters make the reply pending, and an error with --strict. Several steps are
refused: dispatch each by itself.

Of what a command prints, a JSON object is passed on by key: content, text and
article of up to 2,000 characters, code and script of up to 100 lines, analysis and
report always. What is longer goes to a new file in the output directory
(.skillpm/output of the project), and its path into the reply. Other text is content.

The exit code is 0 for success, 2 for pending, missing parameters and a line that can't be
read, 4 for a skill that is not installed, 3 for one whose SKILL.md is damaged, 7 where
something forbids it, and 1 for a command that failed or was killed at the limit.`,
		Example: `  skillpm dispatch 'execute @deploy staging'
  skillpm dispatch '执行 @rollback checkout' --json
  skillpm dispatch 'Task("skills", "undo a release", "run @rollback checkout", {model: "haiku"})'
  skillpm dispatch - --output-dir build/out --timeout 30s < line.txt`,
		Args: console.Need(1, 1, "a LINE, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTrigger(trigger); err != nil {
				return err
			}
			if format != "text" && format != "json" {
				return diag.Errorf(diag.Usage, "--format %q is not known", format).WithHint("use text or json")
			}
			if language != string(dispatch.English) && language != string(dispatch.Chinese) {
				return diag.Errorf(diag.Usage, "--language %q is not known", language).WithHint("use en or zh")
			}
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			if o.Limit, err = scriptLimit(h, timeout); err != nil {
				return err
			}
			line, err := a.dispatchLine(args[0])
			if err != nil {
				return err
			}
			o.Trigger, o.Language, o.Now = session.Trigger(trigger), dispatch.Language(language), a.Now
			o.Begin = a.Loading(h)
			if o.OutputDir != "" {
				o.OutputDir = a.Abs(o.OutputDir)
			}
			reply, err := dispatch.Execute(cmd.Context(), h, line, o)
			if err != nil {
				return err
			}
			if a.JSON || format == "json" {
				err = a.PrintJSON(reply)
			} else {
				_, err = io.WriteString(a.Stdout, console.Printable(reply.Text()))
			}
			if err == nil && reply.Code != diag.OK {
				err = console.Reported{Exit: reply.Code}
			}
			return err
		},
		ValidArgsFunction: a.completeDispatch,
	}
	f = a.RuntimeFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&format, "format", "text", "the reply as `text|json`; --json is the same as json")
	flags.StringVar(&o.OutputDir, "output-dir", "", "write long output to new files in `DIR`")
	flags.DurationVar(&timeout, "timeout", 0, "kill the command after `DURATION`, as 20s")
	flags.BoolVar(&o.Strict, "strict", false, "missing parameters are an error: there is nobody to ask")
	flags.StringVar(&language, "language", string(dispatch.English), "of summaries and advice: `en|zh`")
	flags.StringVar(&trigger, "trigger", string(session.Model), "who asks for the skill: `user|model`")
	fixed := func(flag string, values ...string) {
		a.CompleteFlag(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	fixed("format", "text", "json")
	fixed("language", string(dispatch.English), string(dispatch.Chinese))
	fixed("trigger", string(session.User), string(session.Model))
	a.CompleteFlag(cmd, "timeout", cobra.NoFileCompletions)
	_ = cmd.MarkFlagDirname("output-dir") // cannot fail: the flag exists
	return cmd
}

// dispatchLine returns the line, which "-" reads from standard input.
func (a *app) dispatchLine(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	const most = 1 << 20 // the reply rejects a line that is too long
	data, err := io.ReadAll(io.LimitReader(a.Stdin, most))
	if err != nil {
		return "", fmt.Errorf("standard input can't be read: %w", err)
	}
	return string(data), nil
}

// completeDispatch completes a line with skill names.
func (a *app) completeDispatch(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c := a.CompletionCatalog(cmd)
	if c == nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	verb := "execute"
	for _, v := range []string{"执行", "run"} {
		if strings.HasPrefix(prefix, v) {
			verb = v
		}
	}
	var lines []string
	for _, k := range c.Skills() {
		lines = append(lines, cobra.CompletionWithDesc(verb+" @"+k.Name, console.Brief(k.Description)))
	}
	return console.Matching(lines, prefix), cobra.ShellCompDirectiveNoFileComp
}
