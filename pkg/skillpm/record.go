package skillpm

import (
	"cmp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// recorded applies a change that is described by a report, and records it, one pack a record.
func (w *work) recorded(r *InstallReport, lock []byte, apply func() error) error {
	door := w.Guard(w.client.Around)
	var records []audit.Record
	for _, p := range r.Packs {
		action := actionOf(p.Action)
		if action == "" {
			continue
		}
		rec := audit.Record{
			Action: action, Pack: p.Pack, Version: p.Version, Source: p.Source, Tree: p.Integrity, Signer: p.SignedBy,
			Policy: enforce.Digest(door.Policies()), Lock: audit.Digest(lock), Project: projectOf(w.Scope),
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
		records = append(records, rec)
	}
	return w.client.Recorded(w.client.Log(door), records, apply)
}

// actionOf returns what a record calls what happens to a pack, "" for nothing.
func actionOf(action string) string {
	switch action {
	case ActionInstalled, ActionRestored, ActionLinked:
		return audit.Install
	case ActionUpdated, ActionRenamed:
		return audit.Update
	case ActionRemoved:
		return audit.Remove
	}
	return ""
}

// projectOf returns the directory of a project, "" for the user's scope.
func projectOf(s scope.Scope) string {
	if s.Kind == scope.KindUser {
		return ""
	}
	return s.Root
}

// noted records what policies that only observe would have refused.
func (w *work) noted(notes []string) {
	if len(notes) == 0 {
		return
	}
	log := w.client.Log(w.Guard(w.client.Around))
	for _, note := range notes {
		_ = log.Write(audit.Record{Action: audit.Policy, Result: audit.OK, Verdict: audit.WouldDeny, Reason: note, Project: projectOf(w.Scope)}) // it is said as a warning, too
	}
}

// refused records what was refused, and returns the error.
func (c *Client) refused(err error) error {
	if diag.CodeOf(err) != diag.Denied {
		return err
	}
	project := cmp.Or(c.Around, c.around())
	r := audit.Record{Action: audit.Install, Result: audit.Denied, Verdict: audit.Forbidden, Reason: err.Error(), Project: project}
	_ = c.Log(c.machine.Guard(project)).Write(r) // nothing was done, and the error is told
	return err
}
