package runtime

import "github.com/skillpm/skillpm/pkg/runtime/session"

// Door returns the evaluator that a session uses.
func (h *Host) Door() session.Guard { return policyGuard{h} }
