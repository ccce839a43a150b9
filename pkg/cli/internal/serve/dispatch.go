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
		Use:   "dispatch LINE",
		Short: "Execute a line of the dispatch protocol",
		Long: `The reply is for another agent, in version 3 of the dispatch protocol. LINE has one of
these forms, or is - to read the line from standard input:

  execute @SKILL ARGUMENTS, with the verb execute, run, or 执行
  Task("skills", "<3 to 5 words>", "execute @SKILL ...", {model: "sonnet"})
  a JSON object with the keys subagent_type, description, prompt, and model

If the skill's frontmatter has a command, the command runs for at most 90 seconds
(skills.script-limit). Otherwise, the reply has the instructions of the skill. If
parameters are missing, the reply is pending, or with --strict an error. A LINE can execute
only one skill.

If the command prints a JSON object, the reply has the keys of the object. skillpm writes
long values to new files in the output directory (.skillpm/output of the project), and the
reply has the paths. The values of analysis and report always stay in the reply. Values of
code and script are long if they have more than 100 lines, and all other values if they
have more than 2,000 characters. If the output is not a JSON object, the reply has
the output in content.

Exit codes: 0 success; 2 pending, missing parameters, or an invalid line; 4 skill not
installed; 3 invalid SKILL.md; 7 denied; 1 the command failed or was killed.`,
		Example: `  skillpm dispatch 'execute @deploy staging'
  skillpm dispatch '执行 @rollback checkout' --json
  skillpm dispatch 'Task("skills", "undo a release", "run @rollback checkout")'
  skillpm dispatch - --output-dir build/out --timeout 30s < line.txt`,
		Args: console.Need(1, 1, "a quoted LINE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTrigger(trigger); err != nil {
				return err
			}
			if format != "text" && format != "json" {
				return diag.Errorf(diag.Usage, "unknown --format %q", format).WithHint("use text or json")
			}
			if language != "" && language != string(dispatch.English) && language != string(dispatch.Chinese) {
				return diag.Errorf(diag.Usage, "unknown --language %q", language).WithHint("use en or zh")
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
				err = a.PrintForeign(reply)
			} else {
				_, err = io.WriteString(a.Stdout, reply.Text())
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
	flags.StringVar(&format, "format", "text", "print the reply as `text|json`")
	flags.StringVar(&o.OutputDir, "output-dir", "", "write long output to new files in `DIR`")
	flags.DurationVar(&timeout, "timeout", 0, "kill the command after `DURATION`, such as 20s")
	flags.BoolVar(&o.Strict, "strict", false, "treat missing parameters as an error")
	flags.StringVar(&language, "language", "",
		"use the language `en|zh` for summaries and hints (default: the language of LINE)")
	flags.StringVar(&trigger, "trigger", string(session.Model), "activate the skill as the `user|model`")
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
		return "", fmt.Errorf("cannot read standard input: %w", err)
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
