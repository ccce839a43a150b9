package scan

import "bytes"

// terminalEscapes finds control sequences of terminals (ECMA-48) in a text. Sequences for colors are common in output
// that was copied; others move the cursor, erase or hide what was printed, or write to the clipboard.
func (t *text) terminalEscapes() {
	const esc = 0x1B
	for i := 0; ; {
		k := bytes.IndexByte(t.data[i:], esc)
		if k < 0 {
			return
		}
		start := i + k
		i = start + 1
		if about, end := t.escape(start); about != "" {
			t.hit(TerminalEscape, start, end, about)
			i = end
		}
	}
}

// escape returns what the sequence at an escape character does, and where it ends. The text is empty if the sequence
// is harmless or not complete.
func (t *text) escape(start int) (about string, end int) {
	switch t.after(start + 1) {
	case '[':
		arguments := t.take(start+2, 32, isDigit, ";?=")
		end = start + 2 + len(arguments)
		final := t.after(end)
		end++
		switch {
		case final == 'm' && isConceal(arguments):
			return "hides the text after it", end
		case bytes.IndexByte([]byte("ABEFHfJKdGST"), final) >= 0:
			return "moves the cursor or erases text", end
		}
	case ']':
		number := t.take(start+2, 4, isDigit, "")
		end = start + 2 + len(number)
		switch string(number) {
		case "52":
			return "writes to the clipboard", end
		case "8":
			return "shows a link under another text", end
		case "0", "1", "2":
			return "changes the title of the terminal", end
		}
	}
	return "", start + 1
}

// isConceal reports whether the arguments of a style sequence make text invisible.
func isConceal(arguments []byte) bool {
	for part := range bytes.SplitSeq(arguments, []byte(";")) {
		if string(part) == "8" {
			return !bytes.HasPrefix(arguments, []byte("38")) && !bytes.HasPrefix(arguments, []byte("48"))
		}
	}
	return false
}
