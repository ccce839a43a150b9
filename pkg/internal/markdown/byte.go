package markdown

// class is a set of classes of a byte.
const (
	classSpace = 1 << iota // space, tab, line feed, carriage return
	classPunct             // a backslash can escape it
	classStart             // it may start a block other than a paragraph
)

var classes = [256]uint8{
	'\t': classSpace, '\n': classSpace, '\r': classSpace, ' ': classSpace,
	'!': classPunct, '"': classPunct, '#': classPunct | classStart, '$': classPunct, '%': classPunct, '&': classPunct,
	'\'': classPunct, '(': classPunct, ')': classPunct, '*': classPunct | classStart, '+': classPunct | classStart,
	',': classPunct, '-': classPunct | classStart, '.': classPunct, '/': classPunct, ':': classPunct, ';': classPunct,
	'<': classPunct | classStart, '=': classPunct | classStart, '>': classPunct | classStart, '?': classPunct,
	'@': classPunct, '[': classPunct | classStart, '\\': classPunct, ']': classPunct, '^': classPunct,
	'_': classPunct | classStart, '`': classPunct | classStart, '{': classPunct, '|': classPunct, '}': classPunct,
	'~': classPunct | classStart,
	'0': classStart, '1': classStart, '2': classStart, '3': classStart, '4': classStart,
	'5': classStart, '6': classStart, '7': classStart, '8': classStart, '9': classStart,
}

func isSpace(c byte) bool { return classes[c]&classSpace != 0 }

func isPunct(c byte) bool { return classes[c]&classPunct != 0 }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }

// isBlank reports whether a text consists of spaces and line endings.
func isBlank(b []byte) bool {
	for _, c := range b {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// skipSpace returns the first offset from i on without a space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// trim returns an extent without surrounding white space.
func trim(text []byte, e extent) extent {
	for e.start < e.end && isSpace(text[e.start]) {
		e.start++
	}
	for e.start < e.end && isSpace(text[e.end-1]) {
		e.end--
	}
	return e
}
