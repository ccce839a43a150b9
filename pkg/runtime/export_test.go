package runtime

import "github.com/skillpm/skillpm/pkg/runtime/session"

// Door returns what a session asks.
func (h *Host) Door() session.Guard { return policyGuard{h} }
