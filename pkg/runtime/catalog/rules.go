package catalog

import (
	"github.com/skillpm/skillpm/pkg/diag"
)

// Rule describes a kind of finding of a catalog.
type Rule struct {
	ID       string        `json:"id"`
	Severity diag.Severity `json:"severity"` // the highest severity
	What     string        `json:"what"`     // a sentence without a full stop
}

// Rules returns the rules of a catalog's findings, in order. Package lint does not have them, because they depend on
// what else is installed.
func Rules() []Rule {
	const e, w = diag.SeverityError, diag.SeverityWarning
	return []Rule{
		{
			ruleFile, e,
			"skillpm cannot read `SKILL.md` because of its permissions, size, " +
				"or file type, the case of its name, or a link out of the skill",
		},
		{
			ruleFront, e,
			"the frontmatter is invalid, and skillpm skips the skill; " +
				"a warning if skillpm uses the skill without the invalid field",
		},
		{ruleRequired, e, "a field that the profile requires is missing"},
		{
			ruleName, w,
			"the name is invalid, or differs from the directory's name. " +
				"skillpm uses the directory's name if the skill's name contains `@`, a slash, or invisible characters",
		},
		{
			ruleValue, w,
			"a boolean, number, or list is invalid. skillpm reads a boolean as its more restrictive value, and a priority as 0",
		},
		{RuleConflict, w, "two packs contain a skill with the same name"},
		{
			ruleLock, w,
			"the lockfile is missing, is unreadable, or does not contain an installed pack; " +
				"or a locked pack is not completely installed",
		},
		{ruleMany, w, "more skills are available than recommended"},
		{ruleDirectory, w, "skillpm cannot read a directory completely"},
		{ruleTrust, w, "skillpm skips a project's skills because the project is not trusted"},
	}
}
