package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/lint"
)

// Limits of a matrix: with more than manySkills skills it shows only those with errors. A path has at most
// maxSkillCells cells of a terminal, and a cell at most maxReasons rules.
const (
	manySkills    = 20
	maxSkillCells = 40
	maxReasons    = 2
)

// matrix shows which profiles accept which skills: a row for each skill, a column for each profile, and the rules of
// the errors.
func (t textReport) matrix(w io.Writer, o Outcome) {
	hosts := o.Profiles
	accepted := make([]int, len(hosts))
	var rows [][]lint.ProfileVerdict
	for _, verdicts := range bySkill(o.Verdicts, hosts) {
		everywhere := true
		for i, v := range verdicts {
			switch {
			case v.Accepted:
				accepted[i]++
			case v.Profile != "":
				everywhere = false
			}
		}
		if !everywhere || len(o.Skills) <= manySkills {
			rows = append(rows, verdicts)
		}
	}
	g := console.Grid{Palette: t.Palette, Width: t.width}
	head := []console.Cell{{Text: "accepted by", Role: console.Name}}
	for _, h := range hosts {
		head = append(head, console.Cell{Text: h, Role: console.Name})
	}
	g.Add(head...)
	for _, verdicts := range rows {
		row := []console.Cell{{Text: shortened(console.Printable(verdicts[0].Skill), maxSkillCells)}}
		for _, v := range verdicts {
			row = append(row, verdictCell(v))
		}
		g.Add(row...)
	}
	if len(o.Skills) > manySkills {
		g.Add(totals(len(o.Skills), accepted)...)
	}
	g.Write(w)
}

// totals returns the row with the number of accepted skills for each profile.
func totals(skills int, accepted []int) []console.Cell {
	row := []console.Cell{{Text: textx.Count(skills, "skill")}}
	for _, n := range accepted {
		role := console.Good
		if n < skills {
			role = console.Bad
		}
		row = append(row, console.Cell{Text: fmt.Sprintf("%d of %d", n, skills), Role: role})
	}
	return row
}

// bySkill groups the verdicts by skill, in the order of the profiles. For a profile that a skill was not checked
// against, because its project sets others, the verdict has no profile.
func bySkill(all []lint.ProfileVerdict, hosts []string) [][]lint.ProfileVerdict {
	var out [][]lint.ProfileVerdict
	column := map[string]int{}
	for _, v := range all {
		i, known := column[v.Skill]
		if !known {
			i = len(out)
			column[v.Skill] = i
			row := make([]lint.ProfileVerdict, len(hosts))
			for n := range row {
				row[n] = lint.ProfileVerdict{Skill: v.Skill}
			}
			out = append(out, row)
		}
		if n := slices.Index(hosts, v.Profile); n >= 0 {
			out[i][n] = v
		}
	}
	return out
}

func verdictCell(v lint.ProfileVerdict) console.Cell {
	if v.Profile == "" {
		return console.Cell{Text: "–"}
	}
	if v.Accepted {
		return console.Cell{Text: "✓", Role: console.Good}
	}
	reasons := v.Reasons[:min(len(v.Reasons), maxReasons)]
	text := strings.TrimRight("✗ "+strings.Join(reasons, " "), " ")
	if more := len(v.Reasons) - len(reasons); more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return console.Cell{Text: text, Role: console.Bad}
}

// shortened truncates a path at its start, which is common to all paths of a tree.
func shortened(s string, most int) string {
	runes := []rune(s)
	if console.Cells(runes) <= most {
		return s
	}
	for console.Cells(runes) > most-1 {
		runes = runes[1:]
	}
	return "…" + string(runes)
}
