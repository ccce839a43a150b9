package skillpm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// recordChange applies a change that a report describes, and writes one record for each pack to the audit log.
func (in *installer) recordChange(r *InstallReport, lock []byte, apply func() error) error {
	evaluator := in.Guard(in.client.PolicyProject)
	var records []audit.Record
	for _, p := range r.Packs {
		action := auditAction(p.Action)
		if action == "" {
			continue
		}
		rec := audit.Record{
			Action: action, Pack: p.Pack, Version: p.Version, Source: p.Source, Tree: p.Integrity, Signer: p.SignedBy,
			Policy: enforce.Digest(evaluator.Policies()), Lock: audit.Digest(lock), Project: projectDir(in.Scope),
		}
		if p.Resolved != "" {
			rec.Source += "@" + p.Resolved
		}
		if p.Linked != "" {
			rec.Dir = p.Linked
		}
		if p.Previous != "" {
			rec.Reason = "in place of " + p.Previous
		}
		if slices.ContainsFunc(in.accepted, func(i Increase) bool { return i.Pack == p.Pack }) {
			rec.Reason = strings.TrimPrefix(rec.Reason+"; the user accepted its new capabilities", "; ")
		}
		records = append(records, rec)
	}
	return in.client.WithRecords(in.client.Log(evaluator), records, apply)
}

// auditAction returns the action of a pack in the audit log, "" for one that is not recorded.
func auditAction(action string) string {
	switch action {
	case ActionInstalled, ActionRestored, ActionLinked:
		return audit.Install
	case ActionUpdated, ActionRenamed, ActionMoved:
		return audit.Update
	case ActionRemoved:
		return audit.Remove
	}
	return ""
}

// projectDir returns the directory of a project, "" for the user's scope.
func projectDir(s scope.Scope) string {
	if s.Kind == scope.KindUser {
		return ""
	}
	return s.Root
}

// policyNotes returns what policies in observe mode would have refused since the last call, and records it.
func (in *installer) policyNotes() []string {
	notes := in.Gate.Notes()
	if len(notes) == 0 {
		return nil
	}
	log := in.client.Log(in.Guard(in.client.PolicyProject))
	for _, note := range notes {
		// the note is also a warning, so a log that can't be written loses nothing
		_ = log.Write(audit.Record{
			Action: audit.Policy, Result: audit.OK, Verdict: audit.WouldDeny, Reason: note,
			Project: projectDir(in.Scope),
		})
	}
	return notes
}

// recordRefusal records an operation that a policy denied, and returns the error.
func (c *Client) recordRefusal(err error) error {
	if diag.CodeOf(err) != diag.Denied {
		return err
	}
	project := cmp.Or(c.PolicyProject, c.projectRoot())
	r := audit.Record{
		Action: audit.Install, Result: audit.Denied, Verdict: audit.Forbidden, Reason: err.Error(), Project: project,
	}
	_ = c.Log(c.Machine.Guard(project)).Write(r) // nothing was changed, and the error is reported
	return err
}
