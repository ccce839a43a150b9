package bm25

import "slices"

// RequestWords returns the words that occur in requests of any kind. A query with other words is not searched for them.
func RequestWords() []string {
	return []string{
		"please", "help", "want", "need", "would", "like", "could", "let", "thing", "things", "something", "somebody",
		"someone", "get", "got", "make", "use", "using", "give", "tell",
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
		{"powerpoint", "pptx", "slides", "presentation", "deck"},
		{"py", "python"},
		{"regex", "regexp"},
		{"repo", "repos", "repository"},
		{"spec", "specs", "specification"},
		{"spreadsheet", "excel", "xlsx"},
		{"tf", "terraform"},
		{"ts", "typescript"},
	}
}

// Synonyms returns the synonyms of each word that has some.
func Synonyms() map[string][]string {
	all := map[string][]string{}
	for _, group := range synonymGroups() {
		for _, word := range group {
			all[word] = slices.DeleteFunc(slices.Clone(group), func(other string) bool { return other == word })
		}
	}
	return all
}

// synonyms returns the synonyms of a word, also if it is another form of one in a group.
func synonyms(word string) []string {
	for _, group := range synonymGroups() {
		if i := slices.IndexFunc(group, func(w string) bool { return w == word || stem(w) == stem(word) }); i >= 0 {
			return slices.Delete(group, i, i+1)
		}
	}
	return nil
}
