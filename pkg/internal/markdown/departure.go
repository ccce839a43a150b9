package markdown

// departure marks that a page has something which this package knowingly reads otherwise than goldmark 1.8.7 does, so
// that the tests leave out just those pages.
type departure uint8

const (
	// departFarBrackets: goldmark makes no link after two unclosed brackets that are 998 bytes apart. That limit is
	// meant for the labels of references.
	departFarBrackets departure = 1 << iota
	// departTitle: after a definition whose title is none, because it has no end or something follows it, goldmark goes
	// on to look for definitions behind it, and may leave the line of the destination in the paragraph.
	departTitle
	// departNotes: when the first footnote to end stands in another footnote, goldmark loses the inline content of all.
	departNotes
	// departParentheses: goldmark counts parentheses in a destination without bound, which takes quadratic time.
	departParentheses
	// departInvalid: goldmark reads no HTML tag that has an invalid or a replacement character in a value.
	departInvalid
	// departOrder: goldmark reads footnotes where the first of them ends, and moves a table that an underline follows
	// before the heading. It then remembers for all of the page, and so for what is earlier in the text, up to where a
	// comment or the like has no end.
	departOrder
	// departLineEnd: goldmark does not take a line's end of two characters for a space where a code span starts.
	departLineEnd
)
