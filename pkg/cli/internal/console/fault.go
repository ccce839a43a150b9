package console

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Output is standard output. It remembers the first write error, so that a command with lost output fails.
type Output struct {
	io.Writer
	ASCII   bool    // replace the symbols of skillpm with ASCII
	Home    string  // the home directory, which tables and texts abbreviate to ~; "": none
	Text    bool    // the output is text for users, in which paths below Home start with ~
	Colors  Palette // of tables
	Columns int     // the width of the terminal, from the variable COLUMNS; 0: ask the terminal
	Wrap    bool    // wrap lines at the width of the terminal
	line    []byte
	err     error
}

func (o *Output) Write(p []byte) (int, error) {
	text := p
	if o.Wrap {
		o.line = append(o.line, p...)
		end := bytes.LastIndexByte(o.line, '\n') + 1
		text, o.line = o.line[:end], slices.Clone(o.line[end:])
	}
	if err := o.write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (o *Output) write(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if o.ASCII || o.Text || o.Wrap {
		text = []byte(o.shown(string(text)))
	}
	_, err := o.Writer.Write(text)
	if o.err == nil {
		o.err = err
	}
	return err
}

// shown returns a text as the terminal shows it.
func (o *Output) shown(text string) string {
	if o.ASCII {
		text = asciiSymbols(text)
	}
	if o.Text {
		text = WithTilde(o.Home, text)
	}
	if width := TerminalWidth(o); o.Wrap && width > 0 {
		text = WrapMessage(text, width)
	}
	return text
}

// flush writes the start of a line that has not ended.
func (o *Output) flush() {
	_ = o.write(o.line) // the error is kept
	o.line = nil
}

// Verbatim prints a text whose lines must not be wrapped or changed, such as a diff.
func (a *App) Verbatim(text string) {
	if out, ok := a.Stdout.(*Output); ok {
		out.flush()
		wrap, isText := out.Wrap, out.Text
		out.Wrap, out.Text = false, false
		defer func() { out.Wrap, out.Text = wrap, isText }()
	}
	fmt.Fprint(a.Stdout, text)
}

// asciiSymbols replaces the symbols in tables and trees with one ASCII character each, so that columns stay aligned.
func asciiSymbols(text string) string {
	return strings.NewReplacer("✓", "*", "✗", "x", "→", ">", "…", "~", "━", "=", "─", "-",
		"│", "|", "├", "|", "└", "`", "·", "-", "•", "*").Replace(text)
}

// Checked returns the error of a command, or else that of its output.
func (o *Output) Checked(err error) error {
	o.flush()
	if o.err == nil {
		return err
	}
	code := diag.CodeOf(err)
	if _, reported := errors.AsType[Reported](err); reported && errors.Is(o.err, syscall.EPIPE) {
		return err // the reader, for example head, has ended
	}
	if _, reported := errors.AsType[Reported](err); err != nil && !reported {
		return err
	} else if err == nil {
		code = diag.Internal
	}
	return diag.Errorf(code, "the command ended, but skillpm cannot write the output: %w", o.err)
}
