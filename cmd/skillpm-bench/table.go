package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// write prints the report: as a table for people, which is Markdown as well, or as one JSON document.
func (r report) write(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(r)
	}
	table := [][]string{{
		"row", "pack", "skillpm ms", "peer", "peer ms", "ratio", "goal", "", "cpu ms", "peak MB",
		"runs",
	}}
	for _, res := range r.Results {
		table = append(table, res.cells())
	}
	_, err := io.WriteString(w, render(table)+"\n"+r.footnote())
	return err
}

func (r report) footnote() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Median (minimum–maximum) of whole processes on %s/%s with %d CPUs. "+
		"Ratio: the wall time of skillpm divided by the wall time of the peer, for each run.\n", r.OS, r.Arch, r.CPUs)
	b.WriteString("CPU time (user and system) and peak resident memory: skillpm / peer.\n")
	var names []string
	for name := range r.Versions {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = name + ": " + r.Versions[name]
	}
	b.WriteString(strings.Join(names, "; ") + "\n")
	return b.String()
}

// versions returns the versions of the programs that say one, and why the others are not used.
func (t tools) versions() map[string]string {
	all := map[string]string{}
	for _, tool := range t.all() {
		if text := tool.version + tool.why; text != "" {
			all[tool.name] = text
		}
	}
	return all
}

func (r result) cells() []string {
	size := ""
	switch {
	case r.Skills > 0:
		size = strconv.Itoa(r.Skills)
	case r.MiB > 0:
		size = strconv.Itoa(r.MiB) + " MiB"
	}
	cells := []string{r.Row, size, "", r.Peer, "", "", r.Goal.String(), r.Verdict, "", "", ""}
	if r.Error != "" {
		first, _, _ := strings.Cut(r.Error, "\n")
		cells[3], cells[7] = strings.ReplaceAll(first, "|", "/"), "error"
		return cells
	}
	cells[2] = r.Ours.Wall.times(1e3)
	cells[8], cells[9] = number(r.Ours.CPU.Median*1e3), number(r.Ours.Peak.Median/1e6)
	cells[10] = strconv.Itoa(r.Runs)
	if r.Missing != "" {
		cells[3] = r.Peer + ": " + r.Missing
	}
	if r.Theirs == nil {
		return cells
	}
	cells[4], cells[5] = r.Theirs.Wall.times(1e3), r.Ratio.times(1)
	cells[8] += " / " + number(r.Theirs.CPU.Median*1e3)
	cells[9] += " / " + number(r.Theirs.Peak.Median/1e6)
	if r.Stopped {
		cells[4], cells[5] = "stopped at "+number(r.Theirs.Wall.Max*1e3), "< "+number(r.Ratio.Max)
		cells[8], cells[9] = number(r.Ours.CPU.Median*1e3), number(r.Ours.Peak.Median/1e6)
	}
	return cells
}

// times formats a spread in a unit that is one divided by the factor.
func (s spread) times(factor float64) string {
	if s.Min == s.Max {
		return number(s.Median * factor)
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.Median*factor), number(s.Min*factor), number(s.Max*factor))
}

// number formats with three digits that count, and without exponents.
func number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.1 || v == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// render returns a Markdown table with straight columns, whose first row is the head.
func render(table [][]string) string {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for i, row := range table {
		for i, cell := range row {
			b.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		b.WriteString("|\n")
		if i == 0 {
			for _, width := range widths {
				b.WriteString("|" + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}
