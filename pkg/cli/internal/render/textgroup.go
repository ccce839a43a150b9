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

// maxSkills is for how many skills a long report prints the warnings or notes of a rule.
const maxSkills = 5

// group is findings of a rule in a skill that are printed together: the first one, and where the others are.
type group struct {
	first  int // its position in the report
	others []int32
}

// group returns the groups that are printed, in the order of the report, and whether the report is long: then only
// errors have their lines, and warnings and notes of a rule are printed for some skills only.
func (t textReport) group(o Outcome) (groups []*group, long bool) {
	type key struct {
		skill, rule string
		severity    diag.Severity
	}
	skills := skillDirs(o)
	first := map[key]*group{}
	for i, f := range o.Findings {
		if t.quiet && f.Severity == diag.SeverityNote {
			continue
		}
		k := key{skills.of(f.Path), f.Rule, f.Severity}
		if g := first[k]; g != nil && !t.all {
			g.others = append(g.others, int32(i))
			continue
		}
		first[k] = &group{first: i}
		groups = append(groups, first[k])
	}
	if t.all || len(groups) <= maxDetailed {
		return separate(groups), false
	}
	printed := map[string]int{}
	groups = slices.DeleteFunc(groups, func(g *group) bool {
		f := o.Findings[g.first]
		printed[f.Rule]++
		return f.Severity != diag.SeverityError && printed[f.Rule] > maxSkills
	})
	return separate(groups), true
}

// separate makes groups of one finding from those with few.
func separate(groups []*group) []*group {
	var out []*group
	for _, g := range groups {
		out = append(out, g)
		if len(g.others) >= maxRepeated {
			continue
		}
		for _, i := range g.others {
			out = append(out, &group{first: int(i)})
		}
		g.others = nil
	}
	slices.SortFunc(out, func(a, b *group) int { return a.first - b.first })
	return out
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
func (o Outcome) moreText(g *group) string {
	first := o.Findings[g.first]
	var lines, files []string
	for _, i := range g.others {
		if f := o.Findings[i]; f.Path == first.Path && f.Line > 0 {
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
	return fmt.Sprintf("and %d more%s; show all with -v", len(g.others), where)
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

// MaxCapable is the number of skills whose capabilities are listed by default.
const MaxCapable = 10

// capabilities lists what skills can do, or, if there are many, how to list it.
func (t textReport) capabilities(w io.Writer, o Outcome) {
	var lines []string
	switch {
	case t.quiet && !o.ShowCapabilities:
	case len(o.Skills) > MaxCapable && !o.ShowCapabilities && !t.all:
		lines = []string{fmt.Sprintf("use --capabilities to list what each of the %d skills can do", len(o.Skills))}
	default:
		for _, c := range o.Capabilities {
			if c.Summary != "" {
				lines = append(lines, console.Printable(c.Skill)+": "+console.Printable(c.Summary))
			}
		}
		if o.ShowCapabilities && len(lines) == 0 {
			lines = []string{"none of the skills can run code, reach the network, or change files"}
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, t.Bold("Capabilities"))
	for _, line := range lines {
		t.println(w, "  "+line)
	}
	fmt.Fprintln(w)
}
