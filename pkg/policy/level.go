package policy

// Level is the owner of a policy. The zero value is the weakest level: a policy of unknown origin can only tighten.
type Level int

// The levels, the weakest first.
const (
	ProjectLevel Level = iota // of a project, which may have been cloned from anywhere
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

// loosest reports whether a setting may be looser than its default. The machine's policy decides, or if it has none,
// the user's. A project's policy cannot loosen it, and any policy can tighten it. Value returns "" if a policy does not
// have the setting.
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

// Grants reports whether `allowed-tools` grants tools, as in some agents, instead of restricting them.
func (s Set) Grants() bool {
	return s.loosest(string(Grant), func(p *Policy) string { return string(p.AllowedTools) })
}

// HooksOpen reports whether a tool call is allowed if the event of an agent's hook cannot be read.
func (s Set) HooksOpen() bool {
	return s.loosest(string(Open), func(p *Policy) string { return string(p.Hooks.Unreadable) })
}
