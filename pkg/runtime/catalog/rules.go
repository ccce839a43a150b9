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
		{ruleFile, e, "`SKILL.md` cannot be read: permission, size, kind of file, a link that leads out, another case"},
		{
			ruleFront, e,
			"the frontmatter is not valid; the skill is skipped, or used without the broken field, which is a warning",
		},
		{ruleRequired, e, "a field that the profile requires is missing"},
		{
			ruleName, w,
			"the name is not legal, or not the directory's. One with `@`, a slash or characters that cannot be " +
				"shown is not used: the directory's stands in",
		},
		{
			ruleValue, w,
			"a switch, a number or a list is not understood. A switch counts as the narrower, a priority as 0",
		},
		{RuleConflict, w, "two packs have skills of one name"},
		{
			ruleLock, w,
			"the lock of installed packs is missing, cannot be read, or does not have a pack; a pack that it has " +
				"is not installed, or not in whole",
		},
		{ruleMany, w, "more skills are in force than recommended"},
		{ruleDirectory, w, "a directory cannot be read, or not in whole"},
		{ruleTrust, w, "a project's skills are left out because it is not trusted"},
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
