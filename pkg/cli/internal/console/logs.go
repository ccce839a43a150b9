package console

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// Logs returns the audit logs that arguments name: files, which must exist, and those in directories.
func (a *App) Logs(args []string) ([]string, error) {
	var paths []string
	for _, arg := range args {
		path := a.Abs(arg)
		if _, err := os.Stat(path); err != nil {
			return nil, diag.Errorf(diag.NotFound, "audit log %s does not exist", arg).
				WithHint("name an existing log or a directory of logs, or leave out LOG to read your own log")
		}
		paths = append(paths, path)
	}
	return audit.Logs(paths)
}

// AuditLog returns the audit log that skillpm writes for this user: where the policies set it, or else in the state
// directory. The policies are those of a project, or for "", of the project of the working directory.
func (a *App) AuditLog(env environ.Environment, project string) *audit.Log {
	o := enforce.Options{Files: enforce.Files{Paths: env.Paths, OS: a.OS, Admin: a.Admin}, Now: a.Now}
	if project != "" {
		o.Projects = []string{project}
	} else if s, found, err := env.Paths.Project(env.Dir); err == nil && found {
		o.Projects = []string{s.Root}
	}
	l := enforce.Open(o).Log()
	return audit.Open(cmp.Or(l.Path, filepath.Join(env.Paths.State, "audit", audit.Name)),
		audit.Options{Now: a.Now, Required: l.Required, Team: l.Team, Secrets: a.Secrets})
}

// ReadLogs calls each with the records of logs, and warns about unreadable lines.
func (a *App) ReadLogs(ctx context.Context, s *audit.Stream, each func(audit.Record) (bool, error)) error {
	if err := s.Each(ctx, each); err != nil {
		return err
	}
	if n := s.Read(); n.Damaged > 0 {
		a.Warn("skipped %s of the audit log", textx.Count(int(n.Damaged), "unreadable line"))
		if n.Damaged > n.Records { // probably another format: a JSON document has the last record in a line
			a.Hint("export the logs of other machines with: skillpm log export --format ndjson --output FILE.jsonl")
		}
	}
	return nil
}

// ParseTime parses the time of a flag: an age, a day, or an RFC 3339 time.
func (a *App) ParseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	age, err := ParseAge(flag, text)
	if err != nil {
		return time.Time{}, diag.Errorf(diag.Usage, "--%s %q is neither a duration nor a date", flag, text).
			WithHint("use days, weeks, or hours, such as 7d, 2w, or 36h, or a date such as 2026-11-22")
	}
	return a.Now().Add(-age).UTC(), nil
}
