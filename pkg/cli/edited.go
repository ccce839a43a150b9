package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// shownLines is how many lines of an edit an error shows.
const shownLines = 40

// printEdits shows, below an error about edited skills, the edits, the beginnings of long ones.
func (a *app) printEdits(e *skillpm.EditedError) {
	if a.quiet || a.json {
		return
	}
	for _, edit := range e.Edits {
		lines := strings.SplitAfter(strings.TrimSuffix(edit.Text, "\n"), "\n")
		more := len(lines) - shownLines
		if more > 0 {
			lines = lines[:shownLines]
		}
		if edit.Text != "" {
			a.printDiff(a.Stderr, strings.TrimSuffix(strings.Join(lines, ""), "\n")+"\n", true)
		}
		if more > 0 {
			fmt.Fprintf(a.Stderr, "… %s more: skillpm diff --edits shows all\n", plural(more, "line"))
		}
	}
}

// printDiff writes a difference: in colour, and with everything to be seen, on a terminal or where safe says so; else as
// it is, so that git applies it.
func (a *app) printDiff(w io.Writer, text string, safe bool) {
	p := a.palette(w)
	if safe || terminal(w) {
		text = textdiff.Visible(text)
	}
	if !p {
		fmt.Fprint(w, text)
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Fprintln(w, paintDiff(p, line))
	}
}

// paintDiff colours one line of a difference as git does.
func paintDiff(p palette, line string) string {
	switch {
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "),
		strings.HasPrefix(line, "old mode"), strings.HasPrefix(line, "new mode"),
		strings.HasPrefix(line, "new file"), strings.HasPrefix(line, "deleted file"):
		return p.bold(line)
	case strings.HasPrefix(line, "@@"):
		return p.cyan(line)
	case strings.HasPrefix(line, "+"):
		return p.green(line)
	case strings.HasPrefix(line, "-"):
		return p.red(line)
	}
	return line
}

// printSaved says where copies of edited skills are that were replaced or removed.
func (a *app) printSaved(p palette, r *skillpm.InstallReport) {
	for _, at := range slices.Sorted(maps.Keys(r.Saved)) {
		verb := "is kept in"
		if r.DryRun {
			verb = "would be kept in"
		}
		fmt.Fprintf(a.Stdout, "  a copy of the edited %s %s %s\n", printable(home(r)+at), verb, p.cyan(printable(home(r)+r.Saved[at])))
	}
}

// left says that edited skills stay.
func left(n int) string {
	if n == 1 {
		return "1 edited skill stays as it is"
	}
	return fmt.Sprintf("%d edited skills stay as they are", n)
}
