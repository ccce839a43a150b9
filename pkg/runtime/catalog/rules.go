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
		{ruleFile, e, "`SKILL.md` cannot be read: permissions, size, file type, a link out of the skill, or wrong " +
			"case"},
		{
			ruleFront, e,
			"the frontmatter is invalid, and the skill is skipped; a warning if the skill is used without the invalid " +
				"field",
		},
		{ruleRequired, e, "a field that the profile requires is missing"},
		{
			ruleName, w,
			"the name is invalid, or differs from the directory's. If it has `@`, a slash, or invisible characters, " +
				"the directory's name is used",
		},
		{
			ruleValue, w,
			"a boolean, number, or list is invalid: a boolean gets the more restrictive value, a priority 0",
		},
		{RuleConflict, w, "two packs have a skill of the same name"},
		{
			ruleLock, w,
			"the lockfile is missing, cannot be read, or lacks an installed pack; or a locked pack is not completely " +
				"installed",
		},
		{ruleMany, w, "more skills are available than recommended"},
		{ruleDirectory, w, "a directory cannot be read completely"},
		{ruleTrust, w, "a project's skills are skipped because it is not trusted"},
	}
}

// synonym returns another form of a word, "" for none. It only covers abbreviations, not words of similar meaning.
func synonym(word string) string {
	for _, pair := range [...][2]string{
		{"k8s", "kubernetes"},
		{"js", "javascript"},
		{"ts", "typescript"},
		{"py", "python"},
		{"golang", "go"},
		{"postgres", "postgresql"},
		{"db", "database"},
		{"docs", "documentation"},
		{"repo", "repository"},
		{"repos", "repository"},
		{"auth", "authentication"},
		{"config", "configuration"},
		{"env", "environment"},
		{"infra", "infrastructure"},
		{"perf", "performance"},
		{"a11y", "accessibility"},
		{"i18n", "internationalization"},
		{"l10n", "localization"},
		{"app", "application"},
		{"apps", "application"},
		{"admin", "administrator"},
		{"spec", "specification"},
		{"ad", "advertisement"},
		{"ads", "advertisement"},
		{"excel", "xlsx"},
		{"docx", "word"},
		{"powerpoint", "pptx"},
	} {
		switch word {
		case pair[0]:
			return pair[1]
		case pair[1]:
			return pair[0]
		}
	}
	return ""
}
