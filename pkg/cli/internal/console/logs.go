package console

import (
	"context"
	"os"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
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

// ReadLogs calls each with the records of logs, and warns about unreadable lines.
func (a *App) ReadLogs(ctx context.Context, s *audit.Stream, each func(audit.Record) (bool, error)) error {
	if err := s.Each(ctx, each); err != nil {
		return err
	}
	if n := s.Read().Damaged; n > 0 {
		a.Warn("skipped %s of the audit log", textx.Count(int(n), "unreadable line"))
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
		return time.Time{}, err
	}
	return a.Now().Add(-age).UTC(), nil
}
