package audit

import "time"

// Filter selects records. An empty field selects all.
type Filter struct {
	Since, Until time.Time // from Since, and before Until; records without a time do not match

	Skill, Pack, Session, Action, Result, Verdict, User, Host, Machine, Team string
}

// Pass reports whether the filter selects a record.
func (f Filter) Pass(r Record) bool {
	for _, pair := range [][2]string{
		{f.Skill, r.Skill},
		{f.Pack, r.Pack},
		{f.Session, r.Session},
		{f.Action, r.Action},
		{f.Result, r.Result},
		{f.Verdict, r.Verdict},
		{f.User, r.User},
		{f.Host, r.Host},
		{f.Machine, r.Machine},
		{f.Team, r.Team},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	if f.Since.IsZero() && f.Until.IsZero() {
		return true
	}
	t, err := time.Parse(time.RFC3339Nano, r.Time)
	return err == nil && !t.Before(f.Since) && (f.Until.IsZero() || t.Before(f.Until))
}
