package catalog

// synonym returns another spelling of a word, "" for none. The list is short on purpose: abbreviations, not words of
// nearly the same meaning.
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
