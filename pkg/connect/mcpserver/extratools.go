package mcpserver

import (
	"errors"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// onlyOwn reports whether a profile's agent gets no other tools than its own.
func (s *Server) onlyOwn(p *profile.Profile) bool {
	return s.o.HostNames && p.Trigger.Only && !s.o.ExtraTools
}

// ownHint returns a hint for a model without skillpm's tools.
func (v *serving) ownHint(err error) string {
	if _, ok := errors.AsType[*catalog.UnknownError](err); ok {
		return "use a name from the description of " + v.view.Trigger.Skill.Name
	}
	return "tell the user about this problem"
}
