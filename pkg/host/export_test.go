package host

import "github.com/skillpm/skillpm/pkg/session"

// Door returns what a session asks.
func (h *Host) Door() session.Guard { return door{h} }
