package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Palette adds colors to text if it is true.
type Palette bool

// Role is what a color means. All commands use these roles, so that a word has the same color everywhere.
type Role int

// The roles.
const (
	Plain     Role = iota
	Name           // bold: names of packs and skills, and headings
	Good           // green: success, and what was added
	Bad            // red: errors, failures, and what was removed
	Attention      // yellow: warnings, and what differs from what is expected
	Info           // cyan: notes, hints, and paths
	Aside          // dim: what can be skipped
)

// SeverityRole returns the role of a severity.
func SeverityRole(s diag.Severity) Role {
	switch s {
	case diag.SeverityError:
		return Bad
	case diag.SeverityWarning:
		return Attention
	default:
		return Info
	}
}

// Paint returns a text in the color of a role.
func (p Palette) Paint(r Role, s string) string {
	if !p || r == Plain || s == "" {
		return s
	}
	code := map[Role]string{Name: "1", Good: "32", Bad: "31", Attention: "33", Info: "36", Aside: "2"}[r]
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Severity returns a text in the color of a severity.
func (p Palette) Severity(severity diag.Severity, s string) string {
	return p.Paint(SeverityRole(severity), s)
}

// Red returns a text with the role [Bad].
func (p Palette) Red(s string) string { return p.Paint(Bad, s) }

// Green returns a text with the role [Good].
func (p Palette) Green(s string) string { return p.Paint(Good, s) }

// Yellow returns a text with the role [Attention].
func (p Palette) Yellow(s string) string { return p.Paint(Attention, s) }

// Cyan returns a text with the role [Info].
func (p Palette) Cyan(s string) string { return p.Paint(Info, s) }

// Bold returns a text with the role [Name].
func (p Palette) Bold(s string) string { return p.Paint(Name, s) }

// Dim returns a text with the role [Aside].
func (p Palette) Dim(s string) string { return p.Paint(Aside, s) }

// Printable returns a value of others on one line, so that it cannot control a terminal, or look like other lines. It
// escapes control and format characters, line breaks, and tabs.
func Printable(s string) string { return textx.Printable(s) }

// PrintableText is [Printable] for a text of several lines: line breaks and tabs stay.
func PrintableText(s string) string { return textx.PrintableText(s) }

// unsafe reports whether a character of a JSON document is escaped.
func unsafe(r rune) bool { return r != '\n' && r != '\t' && textx.Unsafe(r) }

// WriteJSON writes indented JSON. It writes control and format characters as escapes, which is equivalent JSON.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(escaper{w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// escaper writes JSON documents line by line, with control and format characters escaped. Documents can be large.
type escaper struct{ w io.Writer }

func (e escaper) Write(document []byte) (int, error) {
	w := bufio.NewWriter(e.w)
	for line := range bytes.Lines(document) {
		if bytes.ContainsFunc(line, unsafe) {
			line = []byte(escaped(string(line)))
		}
		if _, err := w.Write(line); err != nil {
			return 0, err
		}
	}
	return len(document), w.Flush()
}

// WriteJSONList is [WriteJSON] for a document with one empty list named field, whose items it writes one by one: lists
// can have a hundred thousand items. It encodes the document before the first item.
func WriteJSONList(out io.Writer, document any, field string, items iter.Seq[any]) error {
	var head bytes.Buffer
	if err := WriteJSON(&head, document); err != nil {
		return err
	}
	mark := `"` + field + `": []`
	before, after, ok := strings.Cut(head.String(), mark)
	if !ok {
		return fmt.Errorf("the document does not have an empty list %q", field)
	}
	indent := before[strings.LastIndexByte(before, '\n')+1:]
	w := bufio.NewWriter(out)
	fmt.Fprint(w, before, mark[:len(mark)-1])
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent+"  ", "  ")
	end := "]"
	for item := range items {
		b.Reset()
		if err := enc.Encode(item); err != nil {
			return err
		}
		if end != "]" {
			fmt.Fprint(w, ",")
		}
		fmt.Fprint(w, "\n", indent, "  ", escaped(strings.TrimSuffix(b.String(), "\n")))
		end = "\n" + indent + "]"
	}
	fmt.Fprint(w, end, after)
	return w.Flush()
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

// Table prints rows of columns, aligned, with two spaces between them, and headings in the first row if it is in
// capitals. On a terminal, cells are wrapped so that the table fits. Other streams have a line for each row, so that
// programs can search in it.
func Table(w io.Writer, rows [][]string) error {
	g := NewGrid(w, paletteOf(w))
	for i, row := range rows {
		role := Plain
		if text := strings.Join(row, ""); i == 0 && strings.ToUpper(text) == text && strings.ToLower(text) != text {
			role = Name
		}
		var line []Cell
		for _, text := range row {
			text = strings.NewReplacer("\n", " ", "\t", " ").Replace(PrintableText(text))
			line = append(line, Cell{Text: text, Role: role})
		}
		g.Add(line...)
	}
	var b bytes.Buffer
	g.Write(&b)
	_, err := w.Write(b.Bytes())
	return err
}
