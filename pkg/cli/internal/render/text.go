package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/publish"
)

// textReport prints a report as text: findings grouped by file, with their lines and carets. If a rule has many
// findings in a skill, it prints the first one and where the others are. A summary follows, with --quiet
// only if there are errors or warnings.
type textReport struct {
	console.Palette
	quiet bool
	all   bool // print every finding
	width int  // of the terminal; longer lines are wrapped. 0: not a terminal, one line for each finding

	// brief is set for a long report: only errors have their lines, a fix is printed once, and warnings and notes of a
	// rule are printed for some skills only.
	brief bool
	fixes map[string]bool // those that were printed
}

// println prints a line, on a terminal wrapped with an indentation.
func (t textReport) println(w io.Writer, line string) {
	if t.width > 0 {
		line = console.WrapMessage(line, t.width)
	}
	fmt.Fprintln(w, line)
}

func (t textReport) render(out io.Writer, o Outcome) error {
	w := bufio.NewWriter(out)
	if !t.quiet && len(o.Fixed) > 0 {
		t.writeFixed(w, o.Fixed)
		fmt.Fprintln(w)
	}
	file := ""
	groups, brief := t.group(o)
	t.brief, t.fixes = brief, map[string]bool{}
	for _, g := range groups {
		f := o.Findings[g.first]
		if f.Path != file {
			if file != "" {
				fmt.Fprintln(w)
			}
			file = f.Path
			fmt.Fprintln(w, t.Bold(console.Printable(file)))
		}
		t.finding(w, o, f)
		if len(g.others) > 0 {
			t.println(w, "    "+t.Dim(o.moreText(g)))
		}
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
	t.capabilities(w, o)
	if t.quiet {
		if len(groups) == 0 { // a silent success
			return w.Flush()
		}
	} else {
		t.failing(w, o)
	}
	t.writeRules(w, o)
	t.println(w, t.summary(o))
	return w.Flush()
}

// writeFixed lists the changed files.
func (t textReport) writeFixed(w io.Writer, files []publish.FixedFile) {
	for _, f := range files {
		rules := strings.Join(f.Rules, ", ")
		t.println(w, fmt.Sprintf("%s %s (%s)", t.Green("fixed"), console.Printable(f.Path), rules))
	}
}

// suppressed lists the suppressed findings, one per line.
func (t textReport) suppressed(w io.Writer, all []lint.Suppressed) {
	fmt.Fprintln(w, t.Bold("Suppressed findings"))
	for _, s := range all {
		path := s.Path
		if s.Line > 0 {
			path = fmt.Sprintf("%s:%d:%d", s.Path, s.Line, max(1, s.Column))
		}
		why := s.By
		if s.Reason != "" {
			why += ": " + s.Reason
		}
		t.println(w, fmt.Sprintf("  %s %s %s %s", console.Printable(path), s.Rule, console.Printable(s.Message),
			t.Dim("("+console.OneLine(why)+")")))
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
	t.println(w, fmt.Sprintf("  %s%s %s: %s%s",
		location, t.Severity(f.Severity, f.Severity.String()), f.Rule, console.Printable(f.Message), profile))
	if line := t.line(o, f); line != "" {
		number := strconv.Itoa(f.Line)
		text, marks := excerpt(line, f.Column, mark(f), t.excerptWidth(number))
		gap := strings.Repeat(" ", len(number))
		fmt.Fprintf(w, "    %s\n", t.Dim(number+" | ")+text)
		fmt.Fprintf(w, "    %s\n", t.Dim(gap+" | ")+t.Severity(f.Severity, marks))
	}
	if f.Fix != "" && !(t.brief && t.fixes[f.Fix]) {
		t.fixes[f.Fix] = true
		t.println(w, "    "+t.Dim("=")+" "+t.Cyan("fix: ")+console.Printable(f.Fix))
	}
}

// line returns the line of a finding, or "" if it is not printed.
func (t textReport) line(o Outcome, f diag.Finding) string {
	if t.brief && f.Severity != diag.SeverityError {
		return ""
	}
	return o.Line(f)
}

// mark returns the number of characters of a finding in its line.
func mark(f diag.Finding) int {
	if f.EndColumn > f.Column && f.EndLine <= f.Line {
		return f.EndColumn - f.Column
	}
	return 1
}

// fixes counts the fixed findings.
func (o Outcome) fixes() int {
	n := 0
	for _, f := range o.Fixed {
		n += f.Fixes
	}
	return n
}

// excerptWidth returns the width of an excerpt of a line with a number: less than usual on a narrow terminal.
func (t textReport) excerptWidth(number string) int {
	const around = len("    ") + len(" | ") + 4 // two ellipses, and a character that is wide
	if t.width == 0 {
		return excerptWidth
	}
	return max(excerptLeast, min(excerptWidth, t.width-len(number)-around))
}

// The usual and the least width of an excerpt in columns, its maximum number of characters (some have no width), and
// the number of them before the finding.
const (
	excerptWidth  = 100
	excerptLeast  = 20
	excerptRunes  = 400
	excerptBefore = 40
)

// excerpt returns the part of a line around a column, from 1, and a line with carets under count characters. It
// replaces control characters. It does not scan the rest of the line, which may be a whole file.
func excerpt(line string, column, count, width int) (text, marks string) {
	start := 0
	column = max(1, column)
	if before := min(excerptBefore, width/2); column > before && !fits(line, width) {
		start = column - before
		line = skip(line, start)
	}
	var b, m strings.Builder
	if start > 0 {
		b.WriteString("…")
		m.WriteString(" ")
	}
	used, i := 0, start
	for _, r := range line {
		if used > width || i-start > excerptRunes {
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
func fits(line string, width int) bool {
	used, runes := 0, 0
	for _, r := range line {
		_, n := console.PrintableRune(r)
		used += n
		if runes++; used > width || runes > excerptRunes {
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
