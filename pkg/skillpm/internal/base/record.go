package base

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// Log returns the audit log at the path of the policies, or else the user's.
func (b *Base) Log(e *enforce.Evaluator) *audit.Log {
	l := e.Log()
	path := cmp.Or(l.Path, filepath.Join(b.Paths.State, "audit", audit.Name))
	return audit.Open(path, audit.Options{Now: b.Now, Required: l.Required, Team: l.Team, Secrets: b.Secrets})
}

// WithRecords runs an operation between two audit records: of its intent and of its outcome. If a policy requires the
// log, an operation that can't be recorded does not run; otherwise it runs, with a warning.
func (b *Base) WithRecords(log *audit.Log, records []audit.Record, do func() error) error {
	for i := range records {
		id, err := log.Intend(records[i])
		if err != nil && log.Required() {
			_ = recordOutcomes(log, records[:i], errors.New("the operation did not start")) // the log cannot be written
			return diag.Errorf(diag.Denied, "skillpm changed nothing because the policy requires the audit log: %w",
				err).
				WithHint("%s", diag.HintOf(err))
		}
		records[i].ID = id
	}
	err := do()
	logErr := recordOutcomes(log, records, err)
	if logErr != nil && log.Required() && err == nil {
		return diag.Errorf(diag.Internal, "the operation succeeded, but skillpm did not record it in the audit log: %w",
			logErr).
			WithHint("%s", diag.HintOf(logErr))
	}
	if logErr != nil {
		b.Warn("skillpm did not record the operation in the audit log: " + logErr.Error())
	}
	return err
}

// recordOutcomes records the outcome of an operation.
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

// projectGuard returns the evaluator of the policies in effect in the working directory, and its project.
func (b *Base) projectGuard() (e *enforce.Evaluator, project string) {
	if s, found, err := b.Paths.Project(b.Dir); err == nil && found {
		project = s.Root
	}
	return b.Machine.Guard(project), project
}

// MayPublish checks a destination, and the owner of a pack if it has a name, against the policies. It records refusals,
// and returns notes of policies in observe mode.
func (b *Base) MayPublish(ref pack.Ref, name string, signed bool) ([]string, error) {
	r := audit.Record{Action: audit.Publish, Pack: name, Source: ref.Source()}
	return b.ask(r, func(set policy.Set) ([]string, error) {
		notes, err := set.MayPublish(ref.Source(), signed)
		owner, _, named := strings.Cut(name, "/")
		if err != nil || !named {
			return notes, err
		}
		more, err := set.MayPublishAs(owner, policy.CurrentUser())
		return append(notes, more...), err
	})
}

// MayCreate checks against the policies whether the user may create a skill in a layer. It records refusals, and
// returns notes of policies in observe mode.
func (b *Base) MayCreate(layer, skill string) ([]string, error) {
	return b.ask(audit.Record{Action: audit.Policy, Skill: skill}, func(set policy.Set) ([]string, error) {
		return set.MayCreate(layer, policy.CurrentUser())
	})
}

// ask asks the policies in effect in the working directory, and records what they deny or would deny.
func (b *Base) ask(r audit.Record, question func(policy.Set) ([]string, error)) ([]string, error) {
	e, project := b.projectGuard()
	notes, err := question(e.Policies())
	r.Project, r.Policy = project, enforce.Digest(e.Policies())
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

// RecordPublish runs a publication between two audit records.
func (b *Base) RecordPublish(ref pack.Ref, r audit.Record, do func() error) error {
	e, project := b.projectGuard()
	r.Action, r.Source, r.Project, r.Policy = audit.Publish, ref.Source(), project, enforce.Digest(e.Policies())
	return b.WithRecords(b.Log(e), []audit.Record{r}, do)
}
