package console

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// page collects the output for a pager. It has the colors and the width of the terminal.
type page struct {
	bytes.Buffer
	terminal *Output
}

// outputOf returns the standard output that a stream belongs to, or nil.
func outputOf(stream any) *Output {
	if p, ok := stream.(*page); ok {
		return p.terminal
	}
	o, _ := stream.(*Output)
	return o
}

// paletteOf returns the colors for tables on a stream.
func paletteOf(stream any) Palette {
	o := outputOf(stream)
	return o != nil && o.Colors
}

// fileOf returns the file behind a stream, nil for none, and the width in columns from the environment, 0 for none.
func fileOf(stream any) (file *os.File, columns int) {
	if o := outputOf(stream); o != nil {
		stream, columns = o.Writer, o.Columns
	}
	file, _ = stream.(*os.File)
	return file, columns
}

// Terminal reports whether the stream is a terminal.
func Terminal(stream any) bool {
	file, _ := fileOf(stream)
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// TerminalWidth returns the width of a terminal in columns, or 0 for other streams, which have no limit.
func TerminalWidth(stream any) int {
	if !Terminal(stream) {
		return 0
	}
	file, columns := fileOf(stream)
	if columns > 0 {
		return columns
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// Columns returns the value of COLUMNS, or 0 if it is unusable.
func Columns(value string) int {
	const least, most = 20, 1000
	if n, err := strconv.Atoi(value); err == nil && least <= n && n <= most {
		return n
	}
	return 0
}

// printMessage prints a message on standard error after a label. On a terminal it is wrapped.
func (a *App) printMessage(label, text string) {
	text = WithTilde(a.Paths.Home, PrintableText(text))
	width := TerminalWidth(a.Stderr)
	if columns := Columns(a.Getenv("COLUMNS")); width > 0 && columns > 0 {
		width = columns
	}
	if label != "" {
		text = label + " " + text
	}
	if width > 0 {
		text = WrapMessage(text, width)
	}
	a.printLine(text)
}

// WrapMessage wraps the lines of a text at a width. A command in it, which is quoted or ends the line, stays on one
// line if that is wide enough, so that it can be copied. The rest of a line is indented: below the text after
// "name:  ", or by two columns more than the line.
func WrapMessage(text string, width int) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if visibleCells(line) <= width {
			out = append(out, line)
			continue
		}
		label := labelOf(line)
		indent := strings.Repeat(" ", min(visibleCells(label), width/2))
		if strings.TrimSpace(label) == "" {
			indent = label + "  "
		}
		current, empty := label, true
		for _, part := range messageParts(line[len(label):], width-len(indent)) {
			switch {
			case empty && visibleCells(current)+visibleCells(part) <= width:
				current += part
			case !empty && visibleCells(current)+1+visibleCells(part) <= width:
				current += " " + part
			case strings.TrimSpace(current) == "":
				current = indent + part
			default:
				out = append(out, strings.TrimRight(current, " "))
				current = "  " + part
				if visibleCells(part)+len(indent) <= width {
					current = indent + part
				}
			}
			empty = false
		}
		out = append(out, current)
	}
	return strings.Join(out, "\n")
}

// labelOf returns the indentation of a line, with a label such as "description:  " before aligned text.
func labelOf(line string) string {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	name, rest, found := strings.Cut(text, ":  ")
	if !found || strings.Contains(name, " ") {
		return line[:indent]
	}
	return line[:len(line)-len(strings.TrimLeft(rest, " "))]
}

// messageParts splits a line into words, and commands that are not split.
func messageParts(line string, width int) (parts []string) {
	words := strings.Fields(line)
	for i := 0; i < len(words); {
		n := 1
		switch {
		case words[i] == "skillpm" && i > 0 && strings.HasSuffix(words[i-1], ":"):
			n = len(words) - i
		case strings.HasPrefix(words[i], `"skillpm`):
			for i+n < len(words) && !strings.Contains(words[i+n-1][1:], `"`) {
				n++
			}
		}
		part := strings.Join(words[i:i+n], " ")
		if n > 1 && visibleCells(part) > width {
			n, part = 1, words[i]
		}
		parts = append(parts, part)
		i += n
	}
	return parts
}

// visibleCells returns the width of a text without its color codes.
func visibleCells(text string) int {
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		if !found {
			return Cells([]rune(text))
		}
		_, after, _ := strings.Cut(rest, "m")
		text = before + after
	}
}

// Wrap splits a text into lines of at most a width. It breaks words only if they are wider: after punctuation such as
// the slashes of a path if possible.
func Wrap(text string, width int) (lines []string) {
	line, used := "", 0
	flush := func() {
		if line != "" {
			lines, line, used = append(lines, line), "", 0
		}
	}
	for word := range strings.FieldsSeq(text) {
		w := Cells([]rune(word))
		if used > 0 && used+1+w > width {
			flush()
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		for _, part := range wordParts(word, width) {
			if used+Cells([]rune(part)) > width {
				flush()
			}
			for _, r := range part {
				_, n := PrintableRune(r)
				if used+n > width {
					flush()
				}
				line, used = line+string(r), used+n
			}
		}
	}
	flush()
	return lines
}

// Where words may be broken: after the separators of paths, names, and lists, or else also after hyphens.
const (
	wordSeparators = "/:@,"
	anySeparators  = wordSeparators + "-"
)

// wordParts splits a word that is wider than a line where the line may end.
func wordParts(word string, width int) []string {
	if Cells([]rune(word)) <= width {
		return []string{word}
	}
	var parts []string
	for _, part := range splitAfter(word, wordSeparators) {
		if Cells([]rune(part)) > width {
			parts = append(parts, splitAfter(part, anySeparators)...)
		} else {
			parts = append(parts, part)
		}
	}
	return parts
}

// splitAfter splits a word after each separator between other characters.
func splitAfter(word, separators string) (parts []string) {
	is := func(i int) bool { return strings.IndexByte(separators, word[i]) >= 0 }
	start := 0
	for i := 1; i < len(word)-1; i++ {
		if is(i) && !is(i-1) && !is(i+1) {
			parts, start = append(parts, word[start:i+1]), i+1
		}
	}
	return append(parts, word[start:])
}
