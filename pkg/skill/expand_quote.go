package skill

import "strings"

// QuoteArgument returns a word as a shell reads it, and as [SplitArguments] does. A plain one stays as it is.
func QuoteArgument(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_./:@%+,=", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// JoinArguments returns words as one text, of which [SplitArguments] makes them again.
func JoinArguments(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = QuoteArgument(w)
	}
	return strings.Join(quoted, " ")
}
