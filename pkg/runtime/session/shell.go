package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// maxCommands is the maximum number of commands that run in one body.
const maxCommands = 32

// shell returns a function that runs a command of a body and returns its output. The restrictions in tools apply to
// each command: those of the active skills and of the one that is being activated.
func (s *Session) shell(ctx context.Context, a *Activation, l *catalog.Loaded,
	tools tool.Set,
) func(string) (string, bool) {
	count := 0
	return func(command string) (string, bool) {
		if ctx.Err() != nil {
			return "", false
		}
		r := audit.Record{Action: audit.Run, Result: audit.OK, Command: []string{command}, Digest: l.Digest}
		if count++; count > maxCommands {
			a.Warnings = append(a.Warnings,
				fmt.Sprintf("skill %q has more than %d inline commands: skillpm did not run the rest", l.Name,
					maxCommands))
			return "", false
		}
		if v := tools.Allow(s.withDirectories(tool.Call{
			Tool:  "Bash",
			Input: map[string]any{"command": command},
		})); !v.Allowed {
			r.Action, r.Result, r.Tool, r.Reason = audit.Refuse, audit.Denied, "Bash", v.Reason
			a.Warnings = append(a.Warnings,
				fmt.Sprintf("skillpm did not run the command %q of skill %q: %s", command, l.Name,
					v.Reason))
			a.Warnings = append(a.Warnings, s.record(r, l.Skill)...)
			return "", false
		}
		argv, err := shellCommand(l.Front.Shell, command)
		var res *run.Result
		if err == nil {
			var notes []string
			res, notes, err = s.start(ctx, l.Skill, l, run.Command{
				Argv: argv, Dir: s.workDir(l.Dir), Limit: s.env.ScriptLimit, MaxOutput: maxHookOutput,
				Env: s.environment(run.Text, l.Skill, l.Dir, nil),
			}, &r)
			a.Warnings = append(a.Warnings, notes...)
		}
		why := ""
		switch {
		case err != nil:
			why = err.Error()
		case res.TimedOut:
			why = "it exceeded its time limit"
		case res.ExitCode != 0:
			why = fmt.Sprintf("it exited with code %d: %s", res.ExitCode, fragment(res.Stderr))
		}
		if why != "" && r.Result == audit.OK { // the record has the exit code, not the output
			r.Result = audit.Failed
		}
		a.Warnings = append(a.Warnings, s.record(r, l.Skill)...)
		if why != "" {
			a.Warnings = append(a.Warnings,
				fmt.Sprintf("cannot use the output of the command %q of skill %q: %s", command,
					l.Name, why))
			return "", false
		}
		return strings.TrimRight(string(res.Stdout), "\n"), true
	}
}

// shellCommand returns the command line that runs a command in the shell that a skill names.
func shellCommand(shell, command string) ([]string, error) {
	switch shell {
	case "powershell":
		return []string{"pwsh", "-NoProfile", "-NonInteractive", "-Command", command}, nil
	case "":
		return []string{"sh", "-c", command}, nil
	case "bash":
		return []string{"bash", "-c", command}, nil
	}
	return nil, fmt.Errorf("unknown shell %q", shell)
}

// unrun returns warnings about the commands of a body that did not run.
func unrun(name string, commands []skill.ShellCommand, may bool) (warnings []string) {
	if len(commands) == 0 {
		return nil
	}
	if !may {
		return []string{fmt.Sprintf("skill %q has inline commands that did not run, such as %q; "+
			"to run them, use --allow-shell or set skills.dynamic-shell in config.yaml", name, commands[0].Line)}
	}
	for _, c := range commands {
		if c.Refused != "" {
			warnings = append(warnings, fmt.Sprintf("skillpm did not run the command %q of skill %q: %s", c.Line, name,
				c.Refused))
		}
	}
	return warnings
}
