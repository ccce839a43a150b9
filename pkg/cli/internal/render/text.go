package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/publish"
)

// textReport prints a report as text: findings grouped by file, with their lines and carets.
type textReport struct {
	console.Palette
	quiet bool
}

func (t textReport) render(out io.Writer, o Outcome) error {
	w := bufio.NewWriter(out)
	if !t.quiet && len(o.Fixed) > 0 {
		t.writeFixed(w, o.Fixed)
		fmt.Fprintln(w)
	}
	file := ""
	for _, f := range o.Findings {
		if t.quiet && f.Severity == diag.SeverityAdvice {
			continue
		}
		if f.Path != file {
			if file != "" {
				fmt.Fprintln(w)
			}
			file = f.Path
			fmt.Fprintln(w, t.Bold(console.Printable(file)))
		}
		t.finding(w, o, f)
	}
	if t.quiet {
		return w.Flush()
	}
	if file != "" {
		fmt.Fprintln(w)
	}
	if o.ShowSuppressed && len(o.Suppressed) > 0 {
		t.suppressed(w, o.Suppressed)
		fmt.Fprintln(w)
	}
	if len(o.Profiles) > 1 && len(o.Verdicts) > 0 {
		t.matrix(w, o)
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, t.summary(o))
	return w.Flush()
}

// writeFixed lists the changed files.
func (t textReport) writeFixed(w io.Writer, files []publish.FixedFile) {
	for _, f := range files {
		fmt.Fprintf(w, "%s %s (%s)\n", t.Green("mended"), console.Printable(f.Path), strings.Join(f.Rules, ", "))
	}
}

// suppressed lists the suppressed findings, one per line.
func (t textReport) suppressed(w io.Writer, all []lint.Suppressed) {
	fmt.Fprintln(w, t.Bold("suppressed"))
	for _, s := range all {
		path := s.Path
		if s.Line > 0 {
			path = fmt.Sprintf("%s:%d:%d", s.Path, s.Line, max(1, s.Column))
		}
		why := s.By
		if s.Reason != "" {
			why += ": " + s.Reason
		}
		fmt.Fprintf(w, "  %s %s %s %s\n", console.Printable(path), s.Rule, console.Printable(s.Message),
			t.Dim("("+console.OneLine(why)+")"))
	}
}

func (t textReport) finding(w io.Writer, o Outcome, f diag.Finding) {
	location := ""
	if f.Line > 0 {
		location = fmt.Sprintf("%d:%d ", f.Line, max(1, f.Column))
	}
	profile := ""
	if f.Profile != "" {
		profile = " " + t.Dim("("+strings.ReplaceAll(f.Profile, ",", ", ")+")")
	}
	fmt.Fprintf(w, "  %s%s %s: %s%s\n", location, t.severity(f.Severity), f.Rule, console.Printable(f.Message), profile)
	if line := o.Line(f); line != "" {
		text, marks := excerpt(line, f.Column, mark(f))
		number := strconv.Itoa(f.Line)
		gap := strings.Repeat(" ", len(number))
		fmt.Fprintf(w, "    %s\n", t.Dim(number+" | ")+text)
		fmt.Fprintf(w, "    %s\n", t.Dim(gap+" | ")+t.colorSeverity(f.Severity, marks))
	}
	if f.Fix != "" {
		fmt.Fprintf(w, "    %s %s\n", t.Dim("="), t.Cyan("fix: ")+console.Printable(f.Fix))
	}
}

// mark returns the number of characters of a finding in its line.
func mark(f diag.Finding) int {
	if f.EndColumn > f.Column && f.EndLine <= f.Line {
		return f.EndColumn - f.Column
	}
	return 1
}

func (t textReport) severity(s diag.Severity) string { return t.colorSeverity(s, s.String()) }

func (t textReport) colorSeverity(s diag.Severity, text string) string {
	switch s {
	case diag.SeverityError:
		return t.Red(text)
	case diag.SeverityWarning:
		return t.Yellow(text)
	default:
		return t.Cyan(text)
	}
}

// summary formats the counts, for example: 12 skills checked: 3 errors (2 fixable with --fix), 1 warning; 4 suppressed.
func (t textReport) summary(o Outcome) string {
	var parts []string
	how := " with --fix" // mentioned once
	add := func(s diag.Severity, count string) {
		if o.Count(s) == 0 {
			return
		}
		part := t.colorSeverity(s, count)
		if n := o.fixable(s); n > 0 {
			part += fmt.Sprintf(" (%d fixable%s)", n, how)
			how = ""
		}
		parts = append(parts, part)
	}
	add(diag.SeverityError, textx.Count(o.Count(diag.SeverityError), "error"))
	add(diag.SeverityWarning, textx.Count(o.Count(diag.SeverityWarning), "warning"))
	add(diag.SeverityAdvice, fmt.Sprintf("%d advice", o.Count(diag.SeverityAdvice)))
	text := textx.Count(len(o.Skills), "skill") + " checked: "
	if len(parts) == 0 {
		text += t.Green("nothing to report")
	}
	text += strings.Join(parts, ", ")
	if n := len(o.Suppressed); n > 0 {
		text += fmt.Sprintf("; %d suppressed", n)
	}
	if n := o.fixes(); n > 0 {
		text += fmt.Sprintf("; %d mended", n)
	}
	return text
}

// fixes counts the fixed findings.
func (o Outcome) fixes() int {
	n := 0
	for _, f := range o.Fixed {
		n += f.Fixes
	}
	return n
}

// The width of an excerpt in columns, its maximum number of characters (some have no width), and the number of them
// before the finding.
const (
	excerptWidth  = 100
	excerptRunes  = 400
	excerptBefore = 40
)

// excerpt returns the part of a line around a column, from 1, and a line with carets under count characters. It
// replaces control characters. It does not scan the rest of the line, which may be a whole file.
func excerpt(line string, column, count int) (text, marks string) {
	start := 0
	column = max(1, column)
	if column > excerptBefore && !fits(line) {
		start = column - excerptBefore
		line = skip(line, start)
	}
	var b, m strings.Builder
	if start > 0 {
		b.WriteString("…")
		m.WriteString(" ")
	}
	used, i := 0, start
	for _, r := range line {
		if used > excerptWidth || i-start > excerptRunes {
			b.WriteString("…")
			break
		}
		i++ // column of this character
		r, n := console.PrintableRune(r)
		b.WriteRune(r)
		used += n
		switch {
		case i < column:
			m.WriteString(strings.Repeat(" ", n))
		case i < column+count:
			m.WriteString(strings.Repeat("^", n))
		}
	}
	if !strings.Contains(m.String(), "^") {
		m.WriteString("^")
	}
	return b.String(), m.String()
}

// fits reports whether a whole line fits.
func fits(line string) bool {
	used, runes := 0, 0
	for _, r := range line {
		_, n := console.PrintableRune(r)
		used += n
		if runes++; used > excerptWidth || runes > excerptRunes {
			return false
		}
	}
	return true
}

// skip returns a line without its first n characters.
func skip(line string, n int) string {
	for i := range line {
		if n == 0 {
			return line[i:]
		}
		n--
	}
	return ""
}
