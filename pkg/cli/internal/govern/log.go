package govern

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

func newLog(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log [LOG...]",
		Short: "Show the audit log",
		Long: `The audit log records activations, script runs, hooks, tasks, denied tool calls,
installations, approvals, and denials. The file is audit/audit.jsonl in the state
directory, unless the machine's policy names another file. Each record contains the
digest of the record before it, so "skillpm log verify" detects later changes.

The command shows the last records, the newest at the end. LOG is another log or a
directory of logs. The command sorts the records of several logs by time. Some operations
have two records: the intent, and later the outcome. Without -v, the command shows only the
outcome. On a terminal, each reason is on its own line.

--json prints one document with all fields of the records. --format ndjson prints each
record as a line of JSON, also with --follow.`,
		Example: `  skillpm log
  skillpm log --skill deploy --since 7d
  skillpm log --result denied --limit 20 --reverse
  skillpm log --verdict would-deny
  skillpm log verify
  skillpm log stats --since 30d`,
		Args: cobra.ArbitraryArgs,
	}
	a.addShow(cmd)
	for _, c := range []*cobra.Command{newLogStats(a), newLogVerify(a), newLogExport(a)} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// selection are the flags that select records.
type selection struct {
	since, until string
	filter       audit.Filter
}

// addTo adds the flags to a command.
func (s *selection) addTo(a *app, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.since, "since", "", "show records since `TIME`: 30d, 2w, 36h, or a date such as 2026-11-22")
	f.StringVar(&s.until, "until", "", "show records before `TIME`, in the format of --since")
	f.StringVar(&s.filter.Skill, "skill", "", "show records of the skill `NAME`")
	f.StringVar(&s.filter.Pack, "pack", "", "show records of the skills of `PACK`")
	f.StringVar(&s.filter.Session, "session", "", "show records of the session `ID`")
	f.StringVar(&s.filter.Action, "action", "", "show records of `ACTION`, such as activate or run")
	f.StringVar(&s.filter.Result, "result", "", "show records with `RESULT`: ok, failed, denied, timeout, or begun")
	f.StringVar(&s.filter.Verdict, "verdict", "",
		"show records with the policies' `VERDICT`: allow, deny, would-deny (in audit mode), or unapproved")
	f.StringVar(&s.filter.User, "user", "", "show records of the operating system's `USER`")
	f.StringVar(&s.filter.Host, "agent", "", "show records of the agent `ID`, such as claude-code")
	f.StringVar(&s.filter.Machine, "machine", "", "show records of the machine `NAME`")
	f.StringVar(&s.filter.Team, "team", "", "show records of the `TEAM` that a policy names (audit.team)")
	a.CompleteFlag(cmd, "since", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "until", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "skill", a.completeRecorded)
	a.CompleteFlag(cmd, "action", cobra.FixedCompletions(audit.Actions(), cobra.ShellCompDirectiveNoFileComp))
	a.CompleteFlag(cmd, "result", cobra.FixedCompletions(audit.Results(), cobra.ShellCompDirectiveNoFileComp))
	a.CompleteFlag(cmd, "verdict", cobra.FixedCompletions(audit.Verdicts(), cobra.ShellCompDirectiveNoFileComp))
	for flag, field := range map[string]func(audit.Record) string{
		"pack":    func(r audit.Record) string { return r.Pack },
		"session": func(r audit.Record) string { return r.Session },
		"user":    func(r audit.Record) string { return r.User },
		"agent":   func(r audit.Record) string { return r.Host },
		"machine": func(r audit.Record) string { return r.Machine },
		"team":    func(r audit.Record) string { return r.Team },
	} {
		a.CompleteFlag(cmd, flag, a.completeField(field))
	}
}

// read parses the flags.
func (s *selection) read(a *app) (f audit.Filter, err error) {
	f = s.filter
	f.Host = agent.Canonical(f.Host)
	if f.Since, err = a.ParseTime("since", s.since); err != nil {
		return f, err
	}
	if f.Until, err = a.ParseTime("until", s.until); err != nil {
		return f, err
	}
	for _, word := range []struct {
		flag, value string
		values      []string
	}{
		{"action", f.Action, audit.Actions()},
		{"result", f.Result, audit.Results()},
		{"verdict", f.Verdict, audit.Verdicts()},
	} {
		if word.value != "" && !slices.Contains(word.values, word.value) {
			return f, diag.Errorf(diag.Usage, "invalid --%s %q", word.flag, word.value).
				WithHint("use %s", textx.OneOf(word.values))
		}
	}
	return f, nil
}

// logs returns the logs to read: the named ones, which must exist, those in a directory, or else the user's own.
func (a *app) logs(args []string) ([]string, error) {
	if len(args) == 0 {
		path, err := a.ownLog()
		return []string{path}, err
	}
	return a.Logs(args)
}

// ownLog returns the log that skillpm writes for this user: where the policies set it, or else in the state directory.
func (a *app) ownLog() (string, error) {
	env, err := a.Env()
	if err != nil {
		return "", err
	}
	return a.AuditLog(env, "").Path(), nil
}

// completeField completes the values of a field in recent records.
func (a *app) completeField(field func(audit.Record) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		path, err := a.ownLog()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		s := audit.Stream{Paths: []string{path}, Reverse: true}
		n := 0
		_ = s.Each(cmd.Context(), func(r audit.Record) (bool, error) { // completion ignores unreadable logs
			if name := field(r); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
			n++
			return n < 2000, nil
		})
		return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeRecorded completes the names of recorded skills, most frequent first.
func (a *app) completeRecorded(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	path, err := a.ownLog()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var stats audit.Stats
	var names []string
	s := audit.Stream{Paths: []string{path}}
	if s.Each(cmd.Context(), func(r audit.Record) (bool, error) { stats.Add(r); return true, nil }) == nil {
		for _, k := range stats.Usages() {
			if !slices.Contains(names, k.Skill) {
				names = append(names, k.Skill)
			}
		}
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
