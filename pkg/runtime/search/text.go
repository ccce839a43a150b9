package search

// Words calls found with each word of a text as an index has it, in lower case and without accents, until it returns
// false. Chinese, Japanese and Thai give pairs of letters.
func Words(text string, found func(word string) bool) { words(text, found) }

// Stem returns what one of [Words] is compared by. It begins with the same letter.
func Stem(word string) string { return stem(word) }

// Common reports whether one of [Words] says nothing of what is looked for.
func Common(word string) bool { return common(word) }
