package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Palette adds colors to text if it is true.
type Palette bool

func (p Palette) paint(code, s string) string {
	if !p {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Red returns a text in red.
func (p Palette) Red(s string) string { return p.paint("31", s) }

// Green returns a text in green.
func (p Palette) Green(s string) string { return p.paint("32", s) }

// Yellow returns a text in yellow.
func (p Palette) Yellow(s string) string { return p.paint("33", s) }

// Cyan returns a text in cyan.
func (p Palette) Cyan(s string) string { return p.paint("36", s) }

// Bold returns a text in bold.
func (p Palette) Bold(s string) string { return p.paint("1", s) }

// Dim returns a dimmed text.
func (p Palette) Dim(s string) string { return p.paint("2", s) }

// unsafe reports whether a character can control a terminal or hide text.
func unsafe(r rune) bool {
	if ' ' <= r && r <= '~' {
		return false
	}
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar)
}

// Printable escapes control and format characters, so that text from a pack cannot control a terminal. Line breaks and
// tabs stay.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unsafe(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// WriteJSON writes indented JSON. It writes control and format characters as escapes, which is equivalent JSON.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, escaped(b.String()))
	return err
}

// escaped returns a JSON text with control and format characters escaped.
func escaped(text string) string {
	if !strings.ContainsFunc(text, unsafe) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case !unsafe(r):
			b.WriteRune(r)
		case high != unicode.ReplacementChar:
			fmt.Fprintf(&b, "\\u%04x\\u%04x", high, low)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// Table prints rows of columns, aligned, with two spaces between them. On a terminal, cells are wrapped so that the
// table fits. Other streams have a line for each row, so that programs can search in it.
func Table(w io.Writer, rows [][]string) error {
	g, home := Grid{Width: TerminalWidth(w)}, homeOf(w)
	for _, row := range rows {
		var line []Cell
		for _, text := range row {
			text = WithTilde(home, strings.NewReplacer("\n", " ", "\t", " ").Replace(Printable(text)))
			line = append(line, Cell{Text: text})
		}
		g.Add(line...)
	}
	var b bytes.Buffer
	g.Write(&b)
	_, err := w.Write(b.Bytes())
	return err
}
