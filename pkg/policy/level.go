package policy

// Level says whose a policy is. The zero value is the weakest: a policy that nobody said it of only tightens.
type Level int

// The levels, the weakest first.
const (
	ProjectLevel Level = iota // of a project, which may be anybody's
	UserLevel
	MachineLevel // of the machine's administrator
)

// String returns "project", "user" or "machine".
func (l Level) String() string {
	switch l {
	case MachineLevel:
		return "machine"
	case UserLevel:
		return "user"
	}
	return "project"
}

// loosest reports whether policies agree on a looser setting than the default. The machine's decides, or where it has
// no policy the user's; a project's word for it never counts, and a word of anybody against it does. What a policy says
// of the setting is "" where it does not mention it.
func (s Set) loosest(loose string, value func(*Policy) string) bool {
	strongest := ProjectLevel
	for _, p := range s {
		strongest = max(strongest, p.Level)
	}
	if strongest == ProjectLevel {
		return false
	}
	agreed := false
	for _, p := range s {
		v := value(p)
		switch {
		case p.broken != nil, v != "" && v != loose:
			return false
		case p.Level == strongest && v == loose:
			agreed = true
		}
	}
	return agreed
}

// Grants reports whether a skill's list of allowed tools grants them and forbids no others, as it does in some hosts.
func (s Set) Grants() bool {
	return s.loosest(string(Grant), func(p *Policy) string { return string(p.AllowedTools) })
}

// HooksOpen reports whether a call of a tool goes on that a host's hook cannot be asked about, because what it was
// given cannot be read.
func (s Set) HooksOpen() bool {
	return s.loosest(string(Open), func(p *Policy) string { return string(p.Hooks.Unreadable) })
}
