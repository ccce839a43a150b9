package markdown

// deviation marks a page that this package deliberately reads differently from goldmark 1.8.7. The tests skip exactly
// these pages.
type deviation uint8

const (
	// deviatesFarBrackets: goldmark ignores a link after two unclosed brackets that are 998 bytes apart. That limit is
	// meant for labels of references.
	deviatesFarBrackets deviation = 1 << iota
	// deviatesTitle: after a definition with an invalid title (it is not closed, or text follows it), goldmark searches
	// for definitions after it, and may keep the line of the destination in the paragraph.
	deviatesTitle
	// deviatesNotes: if the first footnote to end is inside of another one, goldmark loses the inline content of all
	// footnotes.
	deviatesNotes
	// deviatesParentheses: goldmark counts parentheses in a destination without a limit, which takes quadratic time.
	deviatesParentheses
	// deviatesInvalid: goldmark ignores an HTML tag with an invalid or replacement character in a value.
	deviatesInvalid
	// deviatesOrder: goldmark reads footnotes where the first of them ends, and moves a table before an underlined
	// heading to another position. After that, what it knows about unclosed comments is wrong for earlier text.
	deviatesOrder
	// deviatesLineEnd: goldmark does not treat a two-character line ending as a space at the start of a code span.
	deviatesLineEnd
)
