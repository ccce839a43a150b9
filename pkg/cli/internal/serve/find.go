package serve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// findOptions are the flags of find.
type findOptions struct {
	limit     int
	threshold float64
	tags      []string
	explain   bool
	rerank    string
}

func newFind(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	o := findOptions{limit: 5, threshold: catalog.MatchThreshold}
	cmd := &cobra.Command{
		Use:   "find TASK...",
		Short: "Find available skills for a task",
		Long: `The best match comes first. The output shows which words of the task are in the name, the
tags, the description, when_to_use, or the instructions of a skill. The command does not
load skills. The audit log records which skills match, without the task.

The score is the share of the task that a skill matches, in percent. Rare words count
more than frequent words, words in names and tags more than words in sentences, and words in
instructions least. Words match other forms (deploying finds deploy), synonyms (powerpoint
finds slides), and abbreviations that skills explain in parentheses. If no skill contains a
word of the task, skillpm matches words that begin with the word, or that differ in one
letter. A long task is reduced to its 64 most distinctive words. If no skill reaches
--threshold, the command prints the nearest skills. --explain shows the weight of each word
in the task, and how much of each score comes from each word.

/NAME prefers the skill with this name. The output marks skills that only users or only
the model may activate.

--rerank sends the 20 best skills to a command as JSON, and prints them in the order of the
command's output. The command runs without a shell, for at most 30 seconds.
  input:  {"task": "…", "skills": [{"id": "1", "name": "…", "description": "…",
           "score": 0.42, "body": "…"}]}
  output: {"skills": [{"id": "1", "score": 0.9}]}
The output lists the skills to keep, the best first. A score is optional, from 0 to 1.`,
		Example: `  skillpm find roll the billing service out to the cluster
  skillpm find --tag database --limit 3 'this query takes eight seconds'
  skillpm find /deploy
  skillpm find --threshold 0.5 --json fill in a pdf form
  skillpm find --explain make a powerpoint
  skillpm find --rerank 'python3 rerank.py' fill in a pdf form`,
		Args: console.Need(1, console.MaxArguments, "a TASK in words"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.limit < 1:
				return diag.Errorf(diag.Usage, "--limit must be at least 1")
			case !(o.threshold >= 0 && o.threshold <= 1): // also rejects NaN
				return diag.Errorf(diag.Usage, "--threshold must be between 0 and 1")
			}
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			c, err := h.Catalog(cmd.Context())
			if err != nil {
				return err
			}
			found, err := a.find(cmd.Context(), strings.Join(args, " "), c, o)
			if err != nil {
				return err
			}
			if err := a.recordFound(h, found); err != nil {
				return err
			}
			return a.printFit(h, c, found, o.explain)
		},
		ValidArgsFunction: a.completeSlash,
	}
	f = a.RuntimeFlags(cmd)
	flags := cmd.Flags()
	flags.IntVarP(&o.limit, "limit", "n", o.limit, "show at most `N` skills")
	flags.Float64Var(&o.threshold, "threshold", o.threshold,
		"show skills that match at least this `SHARE` of the task, from 0 to 1")
	flags.StringSliceVar(&o.tags, "tag", nil, "show only skills with `TAG`; repeatable, all tags must match")
	flags.BoolVar(&o.explain, "explain", false, "show the weight of each word, and its share of each score")
	flags.StringVar(&o.rerank, "rerank", "", "rank the best skills with `COMMAND`")
	a.CompleteFlag(cmd, "tag", a.completeTags)
	a.CompleteFlag(cmd, "limit", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "threshold", cobra.NoFileCompletions)
	return cmd
}

// fit is the result of a search.
type fit struct {
	Task      string             `json:"task"`
	Threshold float64            `json:"threshold"`
	Searched  int                `json:"searched"`          // number of skills searched
	Skills    []fitting          `json:"skills"`            // matching skills, best first
	More      int                `json:"more"`              // number of matches that are not listed
	Nearest   []nearMatch        `json:"nearest"`           // closest skills if none match
	Words     []catalog.TaskWord `json:"words,omitempty"`   // with --explain: words that were searched for
	Dropped   []string           `json:"dropped,omitempty"` // with --explain: words of a long task that skillpm did not search for
}

type fitting struct {
	Name           string              `json:"name"`
	Score          float64             `json:"score"`
	Why            []string            `json:"why"`
	Words          []catalog.WordMatch `json:"words,omitempty"` // with --explain: words of the task that the skill has
	Description    string              `json:"description"`
	Tags           []string            `json:"tags,omitempty"`
	Layer          string              `json:"layer"`
	Pack           string              `json:"pack,omitempty"`
	Dir            string              `json:"dir"`
	ModelInvocable bool                `json:"modelInvocable"`
	UserInvocable  bool                `json:"userInvocable"`
}

type nearMatch struct {
	Name  string   `json:"name"`
	Score float64  `json:"score"`
	Why   []string `json:"why"`
}

// maxNearest is how many skills are listed if none match.
const maxNearest = 3

// find ranks the available skills by their match with a task.
func (a *app) find(ctx context.Context, task string, c *catalog.Catalog, o findOptions) (fit, error) {
	finder, err := c.Finder(ctx)
	if err != nil {
		return fit{}, err
	}
	defer finder.Close()
	result, err := finder.Find(task)
	if err != nil {
		return fit{}, err
	}
	skills := c.Skills()
	found := fit{Task: task, Threshold: o.threshold, Skills: []fitting{}, Nearest: []nearMatch{}}
	for _, k := range skills {
		if hasTags(k, o.tags) {
			found.Searched++
		}
	}
	var fitting, near []catalog.Match
	for _, m := range result.Matches {
		switch {
		case !hasTags(skills[m.Index], o.tags):
		case m.Score >= o.threshold:
			fitting = append(fitting, m)
		case len(near) < maxNearest:
			near = append(near, m)
		}
	}
	var named *catalog.Skill
	if k, exact := namedSkill(c, task); k != nil && hasTags(k, o.tags) {
		named = k
		fitting = slices.DeleteFunc(fitting, func(m catalog.Match) bool { return skills[m.Index] == k })
		found.Skills = append(found.Skills, newFitting(k, catalog.Match{Name: exact, Score: 1, Why: []string{"requested by name"}}))
	}
	if o.rerank != "" {
		if fitting, err = a.rerank(ctx, o.rerank, task, skills, fitting); err != nil {
			return fit{}, err
		}
	}
	for _, m := range fitting {
		if len(found.Skills) == o.limit {
			found.More++
			continue
		}
		if err := result.Explain(&m); err != nil {
			return fit{}, err
		}
		if !o.explain {
			m.Words = nil
		}
		found.Skills = append(found.Skills, newFitting(skills[m.Index], m))
	}
	if len(found.Skills) == 0 && named == nil {
		for _, m := range near {
			if err := result.Explain(&m); err != nil {
				return fit{}, err
			}
			found.Nearest = append(found.Nearest, nearMatch{Name: m.Name, Score: m.Score, Why: m.Why})
		}
	}
	if o.explain {
		found.Words, found.Dropped = result.Words, result.Dropped
	}
	return found, nil
}

// recordFound records the matching skills in the audit log, without the task.
func (a *app) recordFound(h *runtime.Host, found fit) error {
	var names []string
	for _, k := range found.Skills {
		names = append(names, audit.Suggestion(k.Name, k.Pack))
	}
	warnings, err := h.Session().RecordFound(names)
	a.Warnings(warnings)
	return err
}

func newFitting(k *catalog.Skill, m catalog.Match) fitting {
	return fitting{
		Name: m.Name, Score: m.Score, Why: m.Why, Words: m.Words, Description: k.Description, Tags: k.Tags,
		Layer: k.Layer, Pack: k.Pack, Dir: k.Dir, ModelInvocable: k.ModelInvocable, UserInvocable: k.UserInvocable,
	}
}

// namedSkill returns the skill that a task names as /name@owner/name, and the name.
func namedSkill(c *catalog.Catalog, task string) (*catalog.Skill, string) {
	words := strings.Fields(task)
	if len(words) == 0 {
		return nil, ""
	}
	exact, ok := strings.CutPrefix(words[0], "/")
	if !ok || !strings.ContainsAny(exact, "@/") {
		return nil, ""
	}
	k, err := c.Lookup(exact)
	if err != nil {
		return nil, ""
	}
	return k, exact
}

// printFit prints the matching skills, a few lines for each.
func (a *app) printFit(h *runtime.Host, c *catalog.Catalog, found fit, explain bool) error {
	if a.JSON {
		return a.PrintJSON(found)
	}
	if explain && found.Searched > 0 {
		a.printWords(found)
	}
	if len(found.Skills) == 0 {
		a.nothingFits(h, c, found)
		return nil
	}
	colours, width := a.Palette(a.Stdout), console.TerminalWidth(a.Stdout)
	for _, k := range found.Skills {
		line := colours.Bold(console.Flat(k.Name)) + "  " + percent(k.Score) + "  " + console.Flat(cmp.Or(k.Pack, k.Layer))
		switch {
		case !k.ModelInvocable:
			line += "  " + colours.Yellow("for users only")
		case !k.UserInvocable:
			line += "  " + colours.Yellow("for models only")
		}
		fmt.Fprintln(a.Stdout, line)
		if k.Description != "" {
			fmt.Fprintln(a.Stdout, "  "+console.Fitted(console.Flat(k.Description), width-2))
		}
		fmt.Fprintln(a.Stdout, "  "+colours.Dim(console.Fitted(console.Flat(strings.Join(k.Why, "; ")), width-2)))
		for _, w := range k.Words {
			fmt.Fprintf(a.Stdout, "    %4s  %s in %s\n", percent(w.Share), console.Flat(foundAs(w)), w.Field)
		}
	}
	n := len(found.Skills)
	text := "Found " + textx.Count(n+found.More, "skill")
	if found.More > 0 {
		text += fmt.Sprintf(", and showed the best %d (more with --limit N)", n)
	}
	a.Note("%s.", text)
	return nil
}

// printWords prints the words of the task that were searched for, and those that were not.
func (a *app) printWords(found fit) {
	for _, w := range found.Words {
		line := fmt.Sprintf("%4s  %s (%s)", percent(w.Weight), console.Flat(w.Word), textx.Count(w.Skills, "skill"))
		if w.Source != "" {
			line += ", added for " + console.Flat(w.Source)
		}
		if len(w.Also) > 0 {
			line += ", also " + console.Flat(strings.Join(w.Also, ", "))
		}
		fmt.Fprintln(a.Stdout, line)
	}
	if len(found.Dropped) > 0 {
		fmt.Fprintln(a.Stdout, "not searched: "+console.Flat(strings.Join(found.Dropped, ", ")))
	}
	fmt.Fprintln(a.Stdout)
}

// foundAs returns a word of the task, and how a skill has it if it has another form.
func foundAs(w catalog.WordMatch) string {
	if w.Word == w.Found {
		return w.Word
	}
	return fmt.Sprintf("%s as %s (%s)", w.Word, w.Found, w.How)
}

// nothingFits reports that no skill matches, and prints the closest ones.
func (a *app) nothingFits(h *runtime.Host, c *catalog.Catalog, found fit) {
	if found.Searched == 0 {
		if len(c.Skills()) > 0 {
			fmt.Fprintln(a.Stdout, "No matches: no available skill has the tags.")
			a.Note("List available skills with: skillpm skills")
			return
		}
		fmt.Fprintln(a.Stdout, "No matches.")
		a.Note("%s", noSkills(h, c))
		return
	}
	if len(found.Nearest) == 0 {
		fmt.Fprintf(a.Stdout, "No matches in %s.\n",
			textx.Count(found.Searched, "skill"))
		return
	}
	var near []string
	for _, n := range found.Nearest {
		near = append(near, fmt.Sprintf("%s (%s)", console.Flat(n.Name), percent(n.Score)))
	}
	fmt.Fprintf(a.Stdout, "No matches. The nearest skills are: %s\n", strings.Join(near, ", "))
	a.Note("Show weaker matches with: --threshold %.2f",
		math.Floor(found.Nearest[len(found.Nearest)-1].Score*100)/100)
}

// percent formats a score.
func percent(score float64) string { return fmt.Sprintf("%.0f%%", score*100) }

// completeSlash completes /name.
func (a *app) completeSlash(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	name, ok := strings.CutPrefix(prefix, "/")
	if !ok || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, directive := a.CompleteSkills(cmd, nil, name)
	for i := range names {
		names[i] = "/" + names[i]
	}
	return names, directive
}
