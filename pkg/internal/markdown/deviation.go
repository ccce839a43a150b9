package markdown

// deviation marks a page that this package deliberately reads differently from goldmark 1.8.7, so that the tests
// exclude just those pages.
type deviation uint8

const (
	// deviatesFarBrackets: goldmark makes no link after two unclosed brackets that are 998 bytes apart. That limit is
	// meant for the labels of references.
	deviatesFarBrackets deviation = 1 << iota
	// deviatesTitle: after a definition whose title is none, because it has no end or something follows it, goldmark
	// goes on to look for definitions behind it, and may leave the line of the destination in the paragraph.
	deviatesTitle
	// deviatesNotes: when the first footnote to end stands in another footnote, goldmark loses the inline content of
	// all.
	deviatesNotes
	// deviatesParentheses: goldmark counts parentheses in a destination without bound, which takes quadratic time.
	deviatesParentheses
	// deviatesInvalid: goldmark reads no HTML tag that has an invalid or a replacement character in a value.
	deviatesInvalid
	// deviatesOrder: goldmark reads footnotes where the first of them ends, and moves a table that an underline follows
	// before the heading. It then remembers for all of the page, and so for what is earlier in the text, up to where a
	// comment or the like has no end.
	deviatesOrder
	// deviatesLineEnd: goldmark does not take a line's end of two characters for a space where a code span starts.
	deviatesLineEnd
)
