package publish

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// budgets returns the budgets of a project's skills: those of its manifest, and that of the command line for all agents.
func (j *job) budgets(o ValidateOptions) (list []pack.Budget) {
	if j.project.manifest != nil {
		list = slices.Clone(j.project.manifest.Budgets)
	}
	if all, ok := agent.Find(agent.SharedID); ok && o.Budget > 0 {
		list = slices.DeleteFunc(list, func(b pack.Budget) bool { return b.Agent == all })
		list = append(list, pack.Budget{Agent: all, Tokens: o.Budget})
	}
	return list
}

// checkBudgets reports budgets that the list of the checked skills exceeds. It counts the whole list, whatever the agent
// cuts.
func (j *job) checkBudgets(ctx context.Context, fsys fs.FS, report *lint.Report, o ValidateOptions) error {
	budgets := j.budgets(o)
	severity, off := j.settings.Severity(rule.OverBudget)
	if len(budgets) == 0 || off {
		return nil
	}
	entries, err := j.entries(ctx, fsys, report.Skills)
	if err != nil || len(entries) == 0 {
		return err
	}
	slices.SortStableFunc(entries, func(a, b prompt.Entry) int {
		return cmp.Compare(tokens.Estimate(b.Description), tokens.Estimate(a.Description))
	})
	for _, b := range budgets {
		form, err := profile.NativeOf(b.Agent)
		if err != nil {
			return err
		}
		cost, err := prompt.Native(form, entries, prompt.Options{})
		if err != nil {
			return err
		}
		if cost.Uncut <= b.Tokens {
			continue
		}
		name := b.Agent.Title
		if b.Agent.ID == agent.SharedID {
			name = "an agent"
		}
		f := diag.Finding{
			Rule: rule.OverBudget, Severity: severity, Fix: rule.Fix(rule.OverBudget), Path: entries[0].Location,
			Message: fmt.Sprintf("the list of %s costs %s about %s tokens; the budget is %s; the longest descriptions: %s",
				textx.Count(len(entries), "skill"), name, textx.Thousands(int64(cost.Uncut)),
				textx.Thousands(int64(b.Tokens)), longest(entries)),
		}
		if b.Line > 0 {
			f.Path, f.Line, f.Column = j.show(j.inVolume(j.project.scope.Manifest())), b.Line, b.Column
		}
		report.Add(f)
	}
	return nil
}

// longest names the skills with the longest descriptions, which are the first.
func longest(entries []prompt.Entry) string {
	const most = 3
	var texts []string
	for _, e := range entries[:min(most, len(entries))] {
		texts = append(texts, fmt.Sprintf("%s (%d)", e.Name, tokens.Estimate(e.Description)))
	}
	return strings.Join(texts, ", ")
}

// entries returns the skills in directories, as a report shows them, that a model may activate. Other findings are about
// those that cannot be read.
func (j *job) entries(ctx context.Context, fsys fs.FS, dirs []string) (entries []prompt.Entry, err error) {
	seen := map[[2]string]bool{}
	for _, shown := range dirs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if path.Base(shown) == skill.File { // the user typed the path of the file
			shown = path.Dir(shown)
		}
		dir := j.unshow(shown)
		doc, _, err := skill.Load(fsys, dir)
		if err != nil || strings.EqualFold(doc.Text("disable-model-invocation"), "true") {
			continue
		}
		e := prompt.Entry{
			Name: cmp.Or(doc.Name(), path.Base(dir)), Description: doc.Description(), WhenToUse: doc.Text("when_to_use"),
			Dir: dir, Location: path.Join(shown, skill.File),
		}
		if id := [2]string{e.Name, e.Description}; !seen[id] { // a copy for another agent is not listed twice
			seen[id] = true
			entries = append(entries, e)
		}
	}
	return entries, nil
}
