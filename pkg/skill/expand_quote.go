package skill

import "strings"

// QuoteArgument quotes a word for a shell and [SplitArguments]. A plain word stays unchanged.
func QuoteArgument(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_./:@%+,=", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// JoinArguments joins words so that [SplitArguments] returns them.
func JoinArguments(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = QuoteArgument(w)
	}
	return strings.Join(quoted, " ")
}
