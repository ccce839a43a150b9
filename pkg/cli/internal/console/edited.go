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

// maxLines limits the lines of an edit in an error message.
const maxLines = 40

// printEdits shows the edits below an error about edited skills, truncated if long.
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
			a.PrintDiff(a.Messages(), strings.TrimSuffix(strings.Join(lines, ""), "\n")+"\n", true)
		}
		if more > 0 {
			fmt.Fprintf(a.Messages(), "... %s; show all with: skillpm diff --edits\n", textx.Count(more, "more line"))
		}
	}
}

// PrintDiff prints a diff: on a terminal, or if safe is set, with colors and invisible characters escaped; otherwise
// for git apply.
func (a *App) PrintDiff(w io.Writer, text string, safe bool) {
	p := a.Palette(w)
	if safe || Terminal(w) {
		text = textdiff.Visible(text)
	}
	if !p {
		fmt.Fprint(a.Content(w), text)
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Fprintln(w, p.DiffLine(line))
	}
}

// DiffLine colors a line of a diff as git does.
func (p Palette) DiffLine(line string) string {
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

// PrintSaved prints where copies of replaced or removed skills with edits are.
func (a *App) PrintSaved(p Palette, r *skillpm.InstallReport) {
	for _, path := range slices.Sorted(maps.Keys(r.Saved)) {
		verb := "kept"
		if r.DryRun {
			verb = "would keep"
		}
		fmt.Fprintf(a.Stdout, "  %s a copy of the edited %s in %s\n", verb, Printable(Home(r)+path),
			p.Cyan(Printable(Home(r)+r.Saved[path])))
	}
}

// RemainingText describes the edited skills that stay.
func RemainingText(n int) string {
	if n == 1 {
		return "kept 1 edited skill"
	}
	return fmt.Sprintf("kept %d edited skills", n)
}

// Home is the base of the report's paths: the project, or the home directory.
func Home(r *skillpm.InstallReport) string {
	if r.Scope == "user" {
		return "~/"
	}
	return ""
}
