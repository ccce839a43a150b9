package render

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// maxRepeated is how many findings of a rule in a skill are printed. If there are more, only the first is.
const maxRepeated = 2

// maxDetailed is how many findings are printed with the line that they are about.
const maxDetailed = 100

// group decides which findings are printed: those at the indexes of the result. Its values have the finding, and those
// that are printed with it.
func (t textReport) group(o Outcome) map[int][]diag.Finding {
	type key struct {
		skill, rule string
		severity    diag.Severity
	}
	skills := skillDirs(o)
	members := map[key][]int{}
	for i, f := range o.Findings {
		if t.quiet && f.Severity == diag.SeverityNote {
			continue
		}
		k := key{skills.of(f.Path), f.Rule, f.Severity}
		members[k] = append(members[k], i)
	}
	groups := map[int][]diag.Finding{}
	for _, indexes := range members {
		if t.all || len(indexes) <= maxRepeated {
			for _, i := range indexes {
				groups[i] = o.Findings[i : i+1]
			}
			continue
		}
		for _, i := range indexes {
			groups[indexes[0]] = append(groups[indexes[0]], o.Findings[i])
		}
	}
	return groups
}

// skillSet has the directories of skills.
type skillSet map[string]bool

func skillDirs(o Outcome) skillSet {
	s := skillSet{}
	for _, dir := range o.Skills {
		s[dir] = true
	}
	return s
}

// of returns the directory of the skill that a file belongs to, or the file itself if it belongs to none.
func (s skillSet) of(file string) string {
	for dir := file; ; {
		if s[dir] {
			return dir
		}
		parent := path.Dir(dir)
		if parent == dir {
			return file
		}
		dir = parent
	}
}

// maxPlaces is how many lines or files a text names.
const maxPlaces = 3

// moreText returns the positions of the other findings of a group, for example: and 4 more on lines 12, 40, 66, …;
// show all with -v.
func moreText(group []diag.Finding) string {
	first, rest := group[0], group[1:]
	var lines, files []string
	for _, f := range rest {
		if f.Path == first.Path && f.Line > 0 {
			lines = append(lines, strconv.Itoa(f.Line))
		} else if f.Path != first.Path {
			files = append(files, f.Path)
		}
	}
	lines, files = slices.Compact(lines), slices.Compact(files)
	where := ""
	switch {
	case len(files) == 1:
		where = " in this file and " + console.Printable(files[0])
		if len(lines) == 0 {
			where = " in " + console.Printable(files[0])
		}
	case len(files) > 0:
		where = fmt.Sprintf(" in %d other files", len(files))
	case len(lines) == 1:
		where = " on line " + lines[0]
	case len(lines) > maxPlaces:
		where = " on lines " + strings.Join(lines[:maxPlaces], ", ") + ", …"
	case len(lines) > 0:
		where = " on lines " + textx.And(lines)
	}
	return fmt.Sprintf("and %d more%s; show all with -v", len(rest), where)
}

// maxFailing is how many skills with errors are listed at the end.
const maxFailing = 20

// failing lists the skills with errors, and other files with errors, if there are several skills.
func (t textReport) failing(w io.Writer, o Outcome) {
	if len(o.Skills) < 2 || o.Count(diag.SeverityError) == 0 {
		return
	}
	skills := skillDirs(o)
	count := map[string]int{}
	var names []string
	for _, f := range o.Findings {
		if f.Severity != diag.SeverityError {
			continue
		}
		name := skills.of(f.Path)
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	fmt.Fprintln(w, t.Bold("Skills with errors"))
	for i, name := range names {
		if i == maxFailing && len(names) > maxFailing+1 {
			fmt.Fprintf(w, "  and %d more\n", len(names)-maxFailing)
			break
		}
		t.println(w, fmt.Sprintf("  %s (%s)", console.Printable(name), t.Red(textx.Count(count[name], "error"))))
	}
	fmt.Fprintln(w)
}

// summary formats the counts, for example: 3 errors, 1 warning in 12 skills (2 fixable with --fix); 4 suppressed.
func (t textReport) summary(o Outcome) string {
	var parts []string
	fixable := 0
	for _, s := range []diag.Severity{diag.SeverityError, diag.SeverityWarning, diag.SeverityNote} {
		if n := o.Count(s); n > 0 {
			parts = append(parts, t.Severity(s, textx.Count(n, s.String())))
			fixable += o.fixable(s)
		}
	}
	text := strings.Join(parts, ", ")
	switch {
	case len(parts) == 0 && len(o.Skills) == 0:
		text = "no skills to check"
	case len(parts) == 0:
		text = t.Green("no findings")
	}
	if len(o.Skills) > 0 {
		text += " in " + textx.Count(len(o.Skills), "skill")
	}
	if fixable > 0 {
		text += fmt.Sprintf(" (%d fixable with --fix)", fixable)
	}
	if n := len(o.Suppressed); n > 0 {
		text += fmt.Sprintf("; %d suppressed", n)
	}
	if n := o.fixes(); n > 0 {
		text += fmt.Sprintf("; %d fixed", n)
	}
	return text
}
