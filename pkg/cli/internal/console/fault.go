package console

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Output is standard output. It remembers the first write error, so that a command with lost output fails.
//
// Everything that is printed passes it, including texts of others. It escapes characters that control a terminal or
// hide text, and what CI systems would execute. Only [Output.Raw] and [App.Content] go past it.
type Output struct {
	io.Writer
	ASCII   bool    // replace the symbols of skillpm with ASCII
	Home    string  // the home directory, which tables and texts abbreviate to ~; "": none
	Text    bool    // the output is text for users, in which paths below Home start with ~
	Colors  Palette // of tables
	Columns int     // the width of the terminal, from the variable COLUMNS; 0: ask the terminal
	Wrap    bool    // wrap lines at the width of the terminal
	line    []byte
	half    []byte // an incomplete character
	guard   textx.Guard
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
	text = append(o.half, text...)
	size := len(text) - incomplete(text)
	text, o.half = text[:size], slices.Clone(text[size:])
	if len(text) == 0 {
		return nil
	}
	return o.guarded(o.escaped(o.shown(string(text))))
}

// guarded writes a text in which CI systems find no commands.
func (o *Output) guarded(text string) error {
	o.guard.Out = raw{o}
	_, err := o.guard.Write([]byte(text))
	return err
}

// incomplete returns the number of bytes of a character at the end of a text whose other bytes are still missing.
func incomplete(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if rest := text[len(text)-n:]; utf8.RuneStart(rest[0]) {
			if !utf8.FullRune(rest) {
				return n
			}
			break
		}
	}
	return 0
}

// color matches the codes of a [Palette].
var color = regexp.MustCompile(`\x1b\[[0-9]+m`)

// escaped returns a text without control characters, except skillpm's colors.
func (o *Output) escaped(text string) string {
	if !bool(o.Colors) || !strings.Contains(text, "\x1b") {
		return PrintableText(text)
	}
	var b strings.Builder
	done := 0
	for _, at := range color.FindAllStringIndex(text, -1) {
		b.WriteString(PrintableText(text[done:at[0]]) + text[at[0]:at[1]])
		done = at[1]
	}
	return b.String() + PrintableText(text[done:])
}

// raw writes bytes of an [Output] as they are.
type raw struct{ *Output }

func (r raw) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// Raw returns a stream for a protocol or for commands to a CI system, which writes bytes as they are.
func Raw(w io.Writer) io.Writer {
	if o, ok := w.(*Output); ok {
		o.flush()
		return raw{o}
	}
	return w
}

// Content returns the stream for the content of files, and for the output of scripts, on standard output or standard
// error. A terminal gets it escaped, and a CI system without commands. Others get it as it is.
func (a *App) Content(w io.Writer) io.Writer {
	o := outputOf(w)
	switch file, _ := fileOf(w); {
	case Terminal(w) && o != nil:
		return w
	case Terminal(w):
		return a.Messages()
	case !a.inCI() || isRegular(file):
		return Raw(w)
	}
	return &textx.Guard{Out: Raw(w)}
}

// inCI reports whether a CI system reads the output.
func (a *App) inCI() bool {
	return slices.ContainsFunc([]string{"CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"},
		func(name string) bool { return a.Getenv(name) != "" })
}

func isRegular(f *os.File) bool {
	if f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// Messages returns standard error for texts of others.
func (a *App) Messages() *Output {
	return &Output{Writer: a.Stderr, Colors: a.Palette(a.Stderr), Columns: Columns(a.Getenv("COLUMNS"))}
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
	line := append(o.line, o.half...)
	o.line, o.half = nil, nil
	if len(line) > 0 {
		_ = o.guarded(o.escaped(o.shown(string(line)))) // the error is kept
	}
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
