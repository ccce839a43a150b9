package bm25

// RequestWords returns the words that occur in requests of any kind. A query with other words is not searched for them.
func RequestWords() []string {
	return []string{
		"please", "help", "want", "need", "would", "like", "could", "let", "thing", "things", "something", "somebody",
		"someone", "people", "user", "users", "get", "got", "make", "use", "using", "give", "tell", "find", "show",
		"know", "look", "new", "one", "way",
	}
}

// synonymGroups are words that mean the same in names and descriptions of skills: abbreviations that are spoken as
// words, and formats with the programs that write them. It stays short: other abbreviations are learned from the
// documents.
func synonymGroups() [][]string {
	return [][]string{
		{"a11y", "accessibility"},
		{"ad", "ads", "advertisement"},
		{"admin", "administrator"},
		{"app", "apps", "application"},
		{"auth", "authentication"},
		{"config", "configuration"},
		{"db", "database"},
		{"docs", "documentation"},
		{"docx", "word"},
		{"env", "environment"},
		{"gh", "github"},
		{"golang", "go"},
		{"i18n", "internationalization"},
		{"infra", "infrastructure"},
		{"js", "javascript"},
		{"k8s", "kubernetes"},
		{"l10n", "localization"},
		{"perf", "performance"},
		{"photo", "picture", "image"},
		{"postgres", "postgresql"},
		{"powerpoint", "pptx", "slides", "presentation", "deck", "keynote"},
		{"py", "python"},
		{"regex", "regexp"},
		{"repo", "repos", "repository"},
		{"spec", "specs", "specification"},
		{"spreadsheet", "excel", "xlsx"},
		{"tf", "terraform"},
		{"ts", "typescript"},
	}
}

// Synonyms returns the synonyms of each word that has some, by the stem of the word.
func Synonyms() map[string][]string {
	all := map[string][]string{}
	for _, group := range synonymGroups() {
		for _, word := range group {
			key := stem(word)
			seen := map[string]bool{key: true}
			var others []string
			for _, other := range group {
				if k := stem(other); !seen[k] {
					seen[k] = true
					others = append(others, other)
				}
			}
			all[key] = others
		}
	}
	return all
}
