package session

import (
	"context"
	"errors"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// Guard decides what the policies have a say in. Notes are what people should know, as what a policy that only observes
// would have refused.
type Guard interface {
	// Activate returns why a skill must not be activated, read from, or have its scripts run; nil where it may.
	Activate(ctx context.Context, l *catalog.Loaded) (notes []string, err error)
	// Confine returns what the scripts, hooks and commands of a skill may do that run in a directory; nil for what the
	// user may. An error means that they must not run.
	Confine(ctx context.Context, l *catalog.Loaded, workDir string) (rules *sandbox.Rules, notes []string, err error)
	// Err returns why everything is denied, as where a policy can't be read; nil where nothing says so.
	Err() error
	// Standing returns why a skill that is active must not be any more: no tool may be called then.
	Standing(a Active) error
	// Grants reports whether a list of allowed tools grants them, as it does in some hosts, and forbids no others.
	Grants() bool
}

// decide asks the policies about a skill, and notes in a record what they say.
func (s *Session) decide(ctx context.Context, l *catalog.Loaded, r *audit.Record) (notes []string, err error) {
	if s.env.Guard == nil {
		return nil, nil
	}
	notes, err = s.env.Guard.Activate(ctx, l)
	switch refused, _ := errors.AsType[*policy.RefusedError](err); {
	case refused != nil && refused.Rule == "approve":
		r.Verdict, r.Policy = audit.Unapproved, refused.At()
	case refused != nil:
		r.Verdict, r.Policy = audit.Forbidden, refused.At()
	case diag.CodeOf(err) == diag.Denied:
		r.Verdict = audit.Forbidden
	case err == nil && len(notes) > 0:
		r.Verdict, r.Reason = audit.WouldDeny, strings.Join(notes, "; ")
	}
	return notes, err
}

// begun records that something is about to be done, where nothing may be done that is not on record: the error says
// that it must not be. The id is that of the record of how it ended.
func (s *Session) begun(r *audit.Record, k *catalog.Skill) error {
	if !s.env.Audit.Required() {
		return nil
	}
	s.fill(r, k)
	id, err := s.env.Audit.Intend(*r)
	if err != nil {
		return diag.Errorf(diag.Denied, "%w; a policy wants it on record, so it is not done", err).
			WithHint("%s", diag.HintOf(err))
	}
	r.ID, r.Phase = id, audit.Outcome
	return nil
}
