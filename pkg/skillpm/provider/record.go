package provider

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// Log returns where what is done is recorded: where the policies say, or else in the user's own log.
func (t *Tools) Log(g *enforce.Evaluator) *audit.Log {
	l := g.Log()
	return audit.Open(cmp.Or(l.Path, filepath.Join(t.Paths.State, "audit", audit.Name)), audit.Options{Now: t.Now, Required: l.Required})
}

// Recorded does something that the records are about: what is intended is recorded before it, and how it ended after
// it. Where a policy requires the log, nothing is done that cannot be recorded; else it is done, with a warning.
func (t *Tools) Recorded(log *audit.Log, records []audit.Record, do func() error) error {
	for i := range records {
		id, err := log.Intend(records[i])
		if err != nil && log.Required() {
			_ = conclude(log, records[:i], errors.New("it was not begun")) // the log cannot be written
			return diag.Errorf(diag.Denied, "nothing was changed, because a policy wants it on record: %w", err).WithHint("%s", diag.HintOf(err))
		}
		records[i].ID = id
	}
	err := do()
	switch lost := conclude(log, records, err); {
	case lost == nil:
	case log.Required() && err == nil:
		return diag.Errorf(diag.Internal, "it is done, and that it is could not be recorded: %w", lost).WithHint("%s", diag.HintOf(lost))
	default:
		t.Warn("it is not on record: " + lost.Error())
	}
	return err
}

// conclude records how something ended.
func conclude(log *audit.Log, records []audit.Record, err error) (lost error) {
	for _, r := range records {
		r.Phase, r.Result = audit.Outcome, audit.OK
		if err != nil {
			r.Result, r.Reason = audit.Failed, err.Error()
		}
		if diag.CodeOf(err) == diag.Denied {
			r.Result = audit.Denied
		}
		lost = cmp.Or(lost, log.Write(r))
	}
	return lost
}
