package session

import "github.com/skillpm/skillpm/pkg/policy/audit"

// RecordFound records which skills a search suggested, as name@pack or name, the best first. The record does not have the
// task, which may be private. If a policy requires the audit log, the caller must not return the skills after an error.
func (s *Session) RecordFound(names []string) (warnings []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	r := audit.Record{Action: audit.Find, Result: audit.OK, Found: names}
	s.fill(&r, nil)
	if err := s.env.Audit.Write(r); err != nil && s.env.Audit.Required() {
		return nil, err
	} else if err != nil {
		return []string{err.Error()}, nil
	}
	return nil, nil
}
