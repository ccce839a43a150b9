package serve

import (
	"cmp"
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
}

func newFind(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	o := findOptions{limit: 5, threshold: catalog.MatchThreshold}
	cmd := &cobra.Command{
		Use:   "find TASK...",
		Short: "Find available skills for a task",
		Long: `The best match comes first. The output shows which words of the task are in the name, the
tags, the description, or when_to_use of a skill. The command does not load skills.

The score is the share of the task that a skill matches, in percent. Rare words count
more than frequent words, and words in names and tags more than words in sentences. Words
match other forms (deploying finds deploy). If no skill contains a word of the task, skillpm
matches words that begin with the word, or that differ in one letter. If no skill reaches
--threshold, the command prints the nearest skills.

/NAME prefers the skill with this name. The output marks skills that only users or only
the model may activate.`,
		Example: `  skillpm find roll the billing service out to the cluster
  skillpm find --tag database --limit 3 'this query takes eight seconds'
  skillpm find /deploy
  skillpm find --threshold 0.5 --json fill in a pdf form`,
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
			found, err := find(strings.Join(args, " "), c, o)
			if err != nil {
				return err
			}
			if err := a.recordFound(h, found); err != nil {
				return err
			}
			return a.printFit(h, c, found)
		},
		ValidArgsFunction: a.completeSlash,
	}
	f = a.RuntimeFlags(cmd)
	flags := cmd.Flags()
	flags.IntVarP(&o.limit, "limit", "n", o.limit, "show at most `N` skills")
	flags.Float64Var(&o.threshold, "threshold", o.threshold,
		"show skills that match at least this `SHARE` of the task, from 0 to 1")
	flags.StringSliceVar(&o.tags, "tag", nil, "show only skills with `TAG`; repeatable, all tags must match")
	a.CompleteFlag(cmd, "tag", a.completeTags)
	a.CompleteFlag(cmd, "limit", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "threshold", cobra.NoFileCompletions)
	return cmd
}

// fit is the result of a search.
type fit struct {
	Task      string      `json:"task"`
	Threshold float64     `json:"threshold"`
	Searched  int         `json:"searched"` // number of skills searched
	Skills    []fitting   `json:"skills"`   // matching skills, best first
	More      int         `json:"more"`     // number of matches that are not listed
	Nearest   []nearMatch `json:"nearest"`  // closest skills if none match
}

type fitting struct {
	Name           string   `json:"name"`
	Score          float64  `json:"score"`
	Why            []string `json:"why"`
	Description    string   `json:"description"`
	Tags           []string `json:"tags,omitempty"`
	Layer          string   `json:"layer"`
	Pack           string   `json:"pack,omitempty"`
	Dir            string   `json:"dir"`
	ModelInvocable bool     `json:"modelInvocable"`
	UserInvocable  bool     `json:"userInvocable"`
}

type nearMatch struct {
	Name  string   `json:"name"`
	Score float64  `json:"score"`
	Why   []string `json:"why"`
}

// maxNearest is how many skills are listed if none match.
const maxNearest = 3

// find ranks the available skills by their match with a task.
func find(task string, c *catalog.Catalog, o findOptions) (fit, error) {
	var skills []*catalog.Skill
	var docs []catalog.Candidate
	consider := func(k *catalog.Skill, name string) {
		if !hasTags(k, o.tags) {
			return
		}
		skills = append(skills, k)
		docs = append(docs, catalog.Candidate{
			Name: name, Description: k.Description, WhenToUse: k.WhenToUse,
			Tags: k.Tags,
		})
	}
	for _, k := range c.Skills() {
		consider(k, k.Name)
	}
	if k, exact := named(c, task); k != nil {
		if i := slices.Index(skills, k); i >= 0 {
			docs[i].Name = exact
		} else {
			consider(k, exact)
		}
	}
	found := fit{Task: task, Threshold: o.threshold, Searched: len(docs), Skills: []fitting{}, Nearest: []nearMatch{}}
	matches, err := catalog.FindMatches(task, docs)
	if err != nil {
		return fit{}, err
	}
	for _, h := range matches {
		switch k := skills[h.Index]; {
		case h.Score < o.threshold:
			if len(found.Skills) == 0 && len(found.Nearest) < maxNearest {
				found.Nearest = append(found.Nearest, nearMatch{Name: h.Name, Score: h.Score, Why: h.Why})
			}
		case len(found.Skills) == o.limit:
			found.More++
		default:
			found.Skills = append(found.Skills, fitting{
				Name: h.Name, Score: h.Score, Why: h.Why, Description: k.Description, Tags: k.Tags, Layer: k.Layer,
				Pack: k.Pack, Dir: k.Dir,
				ModelInvocable: k.ModelInvocable, UserInvocable: k.UserInvocable,
			})
		}
	}
	return found, nil
}

// recordFound records the matching skills in the audit log, without the task.
func (a *app) recordFound(h *runtime.Host, found fit) error {
	var names []string
	for _, k := range found.Skills {
		names = append(names, audit.Suggestion(k.Name, k.Pack))
	}
	warnings, err := h.Session().Found(names)
	a.Warnings(warnings)
	return err
}

// named returns the skill that a task names as /name@owner/name, and the name.
func named(c *catalog.Catalog, task string) (*catalog.Skill, string) {
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
func (a *app) printFit(h *runtime.Host, c *catalog.Catalog, found fit) error {
	if a.JSON {
		return a.PrintJSON(found)
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
	}
	n := len(found.Skills)
	text := "Found " + textx.Count(n+found.More, "skill")
	if found.More > 0 {
		text += fmt.Sprintf(", and showed the best %d (more with --limit N)", n)
	}
	a.Note("%s.", text)
	return nil
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
