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

// Guard makes the decisions of policies. Notes are for the user, such as what a policy in observe mode would have
// denied.
type Guard interface {
	// Activate returns why a skill must not be activated, read, or have its scripts run; nil if it may.
	Activate(ctx context.Context, l *catalog.Loaded) (notes []string, err error)
	// CheckFiles returns why the model must not see any file of a skill; nil if it may.
	CheckFiles(ctx context.Context, k *catalog.Skill) error
	// Confine returns the sandbox rules for the commands of a skill in a working directory; nil if they have the user's
	// permissions. After an error they must not run.
	Confine(ctx context.Context, l *catalog.Loaded, workDir string) (rules *sandbox.Rules, notes []string, err error)
	// Err returns why everything is denied, such as an unreadable policy; nil if nothing is wrong.
	Err() error
	// Standing returns why an active skill must no longer be active; every tool call is denied then.
	Standing(a Active) error
	// Grants reports whether `allowed-tools` grants tools, as in some agents, instead of restricting them.
	Grants() bool
}

// decide asks the policies about a skill and records their decision.
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

// recordIntent writes an audit record before an action if a policy requires a complete log. After an error the action
// must not be done. It sets the record's ID, which the record of the outcome shares.
func (s *Session) recordIntent(r *audit.Record, k *catalog.Skill) error {
	if !s.env.Audit.Required() {
		return nil
	}
	s.fill(r, k)
	id, err := s.env.Audit.Intend(*r)
	if err != nil {
		return diag.Errorf(diag.Denied,
			"%w; the policy requires an audit record, so skillpm did not start the operation", err).
			WithHint("%s", diag.HintOf(err))
	}
	r.ID, r.Phase = id, audit.Outcome
	return nil
}
