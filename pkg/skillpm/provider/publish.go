package provider

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// projectGuard returns what decides by the policies in force for the project that is worked in.
func (t *Tools) projectGuard() (g *enforce.Evaluator, project string) {
	if s, found, err := t.Paths.Project(t.Dir); err == nil && found {
		project = s.Root
	}
	return t.Machine.Guard(project), project
}

// MayPublish holds a place against what the policies say of publishing, and returns what those would refuse that only
// observe. What is refused is recorded.
func (t *Tools) MayPublish(at pack.Ref, pk string, signed bool) ([]string, error) {
	door, project := t.projectGuard()
	notes, err := door.Policies().MayPublish(at.Source(), signed)
	r := audit.Record{Action: audit.Publish, Pack: pk, Source: at.Source(), Project: project, Policy: enforce.Digest(door.Policies())}
	log := t.Log(door)
	for _, note := range notes {
		r.Result, r.Verdict, r.Reason = audit.OK, audit.WouldDeny, note
		_ = log.Write(r) // it is said as a warning, too
	}
	if diag.CodeOf(err) == diag.Denied {
		r.Result, r.Verdict, r.Reason = audit.Denied, audit.Forbidden, err.Error()
		_ = log.Write(r) // nothing was done, and the error is told
	}
	return notes, err
}

// Published records that something is published: before it is, and how it ended.
func (t *Tools) Published(at pack.Ref, r audit.Record, do func() error) error {
	door, project := t.projectGuard()
	r.Action, r.Source, r.Project, r.Policy = audit.Publish, at.Source(), project, enforce.Digest(door.Policies())
	return t.Recorded(t.Log(door), []audit.Record{r}, do)
}
