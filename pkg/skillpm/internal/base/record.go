package base

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// Log returns the audit log: where the policies say, or else the user's own.
func (b *Base) Log(e *enforce.Evaluator) *audit.Log {
	l := e.Log()
	path := cmp.Or(l.Path, filepath.Join(b.Paths.State, "audit", audit.Name))
	return audit.Open(path, audit.Options{Now: b.Now, Required: l.Required})
}

// WithRecords does something that the records are about: what is intended is recorded before it, and how it ended after
// it. If a policy requires the log, nothing is done that cannot be recorded; else it is done, with a warning.
func (b *Base) WithRecords(log *audit.Log, records []audit.Record, do func() error) error {
	for i := range records {
		id, err := log.Intend(records[i])
		if err != nil && log.Required() {
			_ = recordOutcomes(log, records[:i], errors.New("it was not begun")) // the log cannot be written
			return diag.Errorf(diag.Denied, "nothing was changed, because a policy wants it on record: %w", err).
				WithHint("%s", diag.HintOf(err))
		}
		records[i].ID = id
	}
	err := do()
	logErr := recordOutcomes(log, records, err)
	if logErr != nil && log.Required() && err == nil {
		return diag.Errorf(diag.Internal, "it is done, and that it is could not be recorded: %w", logErr).
			WithHint("%s", diag.HintOf(logErr))
	}
	if logErr != nil {
		b.Warn("it is not on record: " + logErr.Error())
	}
	return err
}

// recordOutcomes records how something ended.
func recordOutcomes(log *audit.Log, records []audit.Record, err error) (logErr error) {
	for _, r := range records {
		r.Phase, r.Result = audit.Outcome, audit.OK
		if err != nil {
			r.Result, r.Reason = audit.Failed, err.Error()
		}
		if diag.CodeOf(err) == diag.Denied {
			r.Result = audit.Denied
		}
		logErr = cmp.Or(logErr, log.Write(r))
	}
	return logErr
}

// projectGuard returns what decides by the policies in effect in the working directory, and its project.
func (b *Base) projectGuard() (e *enforce.Evaluator, project string) {
	if s, found, err := b.Paths.Project(b.Dir); err == nil && found {
		project = s.Root
	}
	return b.Machine.Guard(project), project
}

// MayPublish checks a target against the policies, and returns what those would refuse that only observe. It records
// refusals.
func (b *Base) MayPublish(ref pack.Ref, name string, signed bool) ([]string, error) {
	e, project := b.projectGuard()
	notes, err := e.Policies().MayPublish(ref.Source(), signed)
	r := audit.Record{
		Action: audit.Publish, Pack: name, Source: ref.Source(), Project: project, Policy: enforce.Digest(e.Policies()),
	}
	log := b.Log(e)
	for _, note := range notes {
		r.Result, r.Verdict, r.Reason = audit.OK, audit.WouldDeny, note
		_ = log.Write(r) // it is a warning, too
	}
	if diag.CodeOf(err) == diag.Denied {
		r.Result, r.Verdict, r.Reason = audit.Denied, audit.Forbidden, err.Error()
		_ = log.Write(r) // nothing was done, and the error is reported
	}
	return notes, err
}

// RecordPublish records that something is published: before it is, and how it ended.
func (b *Base) RecordPublish(ref pack.Ref, r audit.Record, do func() error) error {
	e, project := b.projectGuard()
	r.Action, r.Source, r.Project, r.Policy = audit.Publish, ref.Source(), project, enforce.Digest(e.Policies())
	return b.WithRecords(b.Log(e), []audit.Record{r}, do)
}
