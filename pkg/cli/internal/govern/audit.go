package govern

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

func newAudit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "audit",
		Short:   "Look at the record of what was done with skills",
		GroupID: "govern",
		Long: `What is done with skills goes on record, in audit/audit.jsonl of the state
directory, or where the machine's policy says: activations, scripts, hooks, tasks,
refusals, and what was installed, approved and denied. Each line has the digest of
the one before it, so that what was changed afterwards is found.

Where LOG is an argument, other logs are read in place of that one: several at once
too, as those of many machines, and all that are in a directory.`,
		Example: "  skillpm audit show\n  skillpm audit stats --since 30d\n  skillpm audit verify",
		RunE:    console.UnknownCommand,
		Args:    cobra.ArbitraryArgs,
	}
	for _, c := range []*cobra.Command{newAuditShow(a), newAuditStats(a), newAuditVerify(a), newAuditExport(a)} {
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
	f.StringVar(&s.since, "since", "", "only what was done since `TIME`: 30d, 2w or 36h ago, or a date as 2026-11-22")
	f.StringVar(&s.until, "until", "", "only what was done before `TIME`, written as for --since")
	f.StringVar(&s.filter.Skill, "skill", "", "only the skill `NAME`")
	f.StringVar(&s.filter.Pack, "pack", "", "only skills of the `PACK`")
	f.StringVar(&s.filter.Session, "session", "", "only the session `ID`")
	f.StringVar(&s.filter.Action, "action", "", "only the `ACTION`, as activate or run")
	f.StringVar(&s.filter.Result, "result", "", "only the `RESULT`: ok, failed, denied, timeout, or begun")
	f.StringVar(&s.filter.User, "user", "", "only the `USER` of the operating system")
	f.StringVar(&s.filter.Host, "host", "", "only the agent's program `ID`, as claude-code")
	f.StringVar(&s.filter.Machine, "machine", "", "only the machine `NAME`")
	a.CompleteFlag(cmd, "since", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "until", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "skill", a.completeRecorded)
	a.CompleteFlag(cmd, "action", cobra.FixedCompletions(audit.Actions(), cobra.ShellCompDirectiveNoFileComp))
	a.CompleteFlag(cmd, "result", cobra.FixedCompletions(audit.Results(), cobra.ShellCompDirectiveNoFileComp))
	for flag, field := range map[string]func(audit.Record) string{
		"pack":    func(r audit.Record) string { return r.Pack },
		"session": func(r audit.Record) string { return r.Session },
		"user":    func(r audit.Record) string { return r.User }, "host": func(r audit.Record) string { return r.Host },
		"machine": func(r audit.Record) string { return r.Machine },
	} {
		a.CompleteFlag(cmd, flag, a.completeField(field))
	}
}

// read parses the flags.
func (s *selection) read(a *app) (f audit.Filter, err error) {
	f = s.filter
	f.Host = agent.HookID(f.Host)
	if f.Since, err = a.parseTime("since", s.since); err != nil {
		return f, err
	}
	if f.Until, err = a.parseTime("until", s.until); err != nil {
		return f, err
	}
	if f.Action != "" && !slices.Contains(audit.Actions(), f.Action) {
		return f, diag.Errorf(diag.Usage, "--action %q is no action", f.Action).
			WithHint("actions are %s", strings.Join(audit.Actions(), ", "))
	}
	if f.Result != "" && !slices.Contains(audit.Results(), f.Result) {
		return f, diag.Errorf(diag.Usage, "--result %q is no result", f.Result).
			WithHint("results are %s", strings.Join(audit.Results(), ", "))
	}
	return f, nil
}

// parseTime parses the time of a flag: an age, a day, or an RFC 3339 time.
func (a *app) parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	age, err := console.ParseAge(flag, text)
	if err != nil {
		return time.Time{}, err
	}
	return a.Now().Add(-age).UTC(), nil
}

// logs returns the logs to read: the named ones, which must exist, those in a directory, or else the user's own.
func (a *app) logs(args []string) ([]string, error) {
	if len(args) == 0 {
		path, err := a.ownLog()
		return []string{path}, err
	}
	var paths []string
	for _, arg := range args {
		path := a.Abs(arg)
		if _, err := os.Stat(path); err != nil {
			return nil, diag.Errorf(diag.NotFound, "there is no audit log %s", arg).
				WithHint("name a file, or a directory of logs; without one, your own log is read")
		}
		paths = append(paths, path)
	}
	return audit.Logs(paths)
}

// ownLog returns the log that skillpm writes for this user: where the policies set it, or else in the state directory.
func (a *app) ownLog() (string, error) {
	env, err := a.Env()
	if err != nil {
		return "", err
	}
	log := enforce.Open(enforce.Options{
		Files: enforce.Files{Paths: env.Paths, OS: a.OS, Admin: a.Admin},
		Now:   a.Now,
	}).Log()
	return audit.Open(cmp.Or(log.Path, filepath.Join(env.Paths.State, "audit", audit.Name)),
		audit.Options{}).Path(), nil
}

// stream reads logs, and warns about unreadable lines.
func (a *app) stream(ctx context.Context, s *audit.Stream, each func(audit.Record) (bool, error)) error {
	if err := s.Each(ctx, each); err != nil {
		return err
	}
	if n := s.Read().Damaged; n > 0 {
		a.Warn("%s of the audit log cannot be read", textx.Count(int(n), "line"))
	}
	return nil
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
		for _, k := range stats.Skills() {
			if !slices.Contains(names, k.Skill) {
				names = append(names, k.Skill)
			}
		}
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
