package console

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// maxLines is how many lines of an edit an error shows.
const maxLines = 40

// printEdits shows, below an error about edited skills, the edits, the beginnings of long ones.
func (a *App) printEdits(e *skillpm.EditedError) {
	if a.Quiet || a.JSON {
		return
	}
	for _, edit := range e.Edits {
		lines := strings.SplitAfter(strings.TrimSuffix(edit.Text, "\n"), "\n")
		more := len(lines) - maxLines
		if more > 0 {
			lines = lines[:maxLines]
		}
		if edit.Text != "" {
			a.PrintDiff(a.Stderr, strings.TrimSuffix(strings.Join(lines, ""), "\n")+"\n", true)
		}
		if more > 0 {
			fmt.Fprintf(a.Stderr, "… %s more: skillpm diff --edits shows all\n", textx.Count(more, "line"))
		}
	}
}

// PrintDiff writes a difference: in colour, and with everything to be seen, on a terminal or where safe says so; else
// as it is, so that git applies it.
func (a *App) PrintDiff(w io.Writer, text string, safe bool) {
	p := a.Palette(w)
	if safe || Terminal(w) {
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
func paintDiff(p Palette, line string) string {
	switch {
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "),
		strings.HasPrefix(line, "old mode"), strings.HasPrefix(line, "new mode"),
		strings.HasPrefix(line, "new file"), strings.HasPrefix(line, "deleted file"):
		return p.Bold(line)
	case strings.HasPrefix(line, "@@"):
		return p.Cyan(line)
	case strings.HasPrefix(line, "+"):
		return p.Green(line)
	case strings.HasPrefix(line, "-"):
		return p.Red(line)
	}
	return line
}

// PrintSaved says where copies of edited skills are that were replaced or removed.
func (a *App) PrintSaved(p Palette, r *skillpm.InstallReport) {
	for _, path := range slices.Sorted(maps.Keys(r.Saved)) {
		verb := "is kept in"
		if r.DryRun {
			verb = "would be kept in"
		}
		fmt.Fprintf(a.Stdout, "  a copy of the edited %s %s %s\n", Printable(Home(r)+path), verb,
			p.Cyan(Printable(Home(r)+r.Saved[path])))
	}
}

// RemainingText says that edited skills stay.
func RemainingText(n int) string {
	if n == 1 {
		return "1 edited skill stays as it is"
	}
	return fmt.Sprintf("%d edited skills stay as they are", n)
}

// Home is what stands before the report's paths: they are relative to the project, or to the home directory.
func Home(r *skillpm.InstallReport) string {
	if r.Scope == "user" {
		return "~/"
	}
	return ""
}
