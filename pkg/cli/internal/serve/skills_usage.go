package serve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// usageOptions are the flags of "skills" about the use of skills.
type usageOptions struct {
	unused, overlaps bool
	since            string
	logs             []string
}

// check rejects combinations of flags.
func (o usageOptions) check(cmd *cobra.Command) error {
	used := o.unused || o.overlaps
	switch {
	case o.unused && o.overlaps:
		return diag.Errorf(diag.Usage, "--unused cannot be used with --overlaps")
	case !used && (cmd.Flags().Changed("since") || len(o.logs) > 0):
		return diag.Errorf(diag.Usage, "--since and --log need --unused or --overlaps")
	case used && (cmd.Flags().Changed("all") || cmd.Flags().Changed("watch")):
		return diag.Errorf(diag.Usage, "--all and --watch cannot be used with --unused or --overlaps")
	}
	return nil
}

// unusedDocument is the output of "skills --unused --json".
type unusedDocument struct {
	Since    time.Time     `json:"since"`              // start of the time in which the skills were not used
	LogStart *time.Time    `json:"logStart,omitempty"` // time of the first record; a skill may have been used before
	Records  int64         `json:"records"`            // number of records in the logs
	Damaged  int64         `json:"damaged"`            // number of unreadable lines
	Searched int           `json:"searched"`           // number of available skills
	Agents   []agentUsage  `json:"agents"`             // agents whose activations the logs have
	Unused   []unusedSkill `json:"unused"`             // skills that were not used, those that were found most first
	Commands []string      `json:"commands"`           // commands that remove or deny the skills
}

type agentUsage struct {
	Agent       string `json:"agent"`       // "" for activations by skillpm without an agent
	Activations int64  `json:"activations"` // number of activations
}

type unusedSkill struct {
	skillUse
	Last      *time.Time `json:"last,omitempty"`      // last use
	Installed *time.Time `json:"installed,omitempty"` // installation of the pack, if it is later than since
	Tokens    int        `json:"tokens"`              // estimate of the tokens that the skill takes in each list of skills
}

// skillUse is a skill with its use.
type skillUse struct {
	Name        string `json:"name"`
	Exact       string `json:"exact"` // name that identifies only this skill
	Pack        string `json:"pack,omitempty"`
	Version     string `json:"version,omitempty"`
	Layer       string `json:"layer"`
	Path        string `json:"path"`
	Activations int64  `json:"activations"` // number of activations
	Found       int64  `json:"found"`       // how often a search suggested the skill
}

// overlapsDocument is the output of "skills --overlaps --json".
type overlapsDocument struct {
	Since    time.Time     `json:"since"`    // start of the time in which activations were counted
	Searched int           `json:"searched"` // number of available skills
	Overlaps []overlapJSON `json:"overlaps"` // pairs of skills, the most similar first
}

type overlapJSON struct {
	Score  float64       `json:"score"`  // similarity of the descriptions, from 0 to 1
	Skills []overlapSide `json:"skills"` // the two skills
}

type overlapSide struct {
	skillUse
	Description string `json:"description"`
}

// skillKey identifies a skill in an audit log.
type skillKey struct{ name, pack string }

// logUsage is the use of skills in audit logs.
type logUsage struct {
	since     time.Time
	recent    map[skillKey]audit.Usage // since then
	ever      map[skillKey]audit.Usage
	agents    []agentUsage
	installed map[string]time.Time // installations of packs since then
	first     time.Time            // time of the first record
	read      audit.Read
}

// readUsage reads the selected logs.
func (a *app) readUsage(ctx context.Context, h *runtime.Host, o usageOptions) (*logUsage, error) {
	since, err := a.ParseTime("since", o.since)
	if err != nil {
		return nil, err
	}
	paths := []string{h.Audit().Path()}
	if len(o.logs) > 0 {
		if paths, err = a.Logs(o.logs); err != nil {
			return nil, err
		}
	}
	use := &logUsage{since: since, installed: map[string]time.Time{}}
	recent, ever, agents := audit.Stats{Since: since}, audit.Stats{}, audit.Stats{Since: since, By: []string{audit.ByAgent}}
	s := audit.Stream{Paths: paths, Unordered: true}
	err = a.ReadLogs(ctx, &s, func(r audit.Record) (bool, error) {
		recent.Add(r)
		ever.Add(r)
		agents.Add(r)
		t, err := time.Parse(time.RFC3339Nano, r.Time)
		if err != nil {
			return true, nil
		}
		if use.first.IsZero() || t.Before(use.first) {
			use.first = t
		}
		if r.Action == audit.Install && r.Result == audit.OK && !t.Before(since) {
			use.installed[r.Pack] = t
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	use.recent, use.ever, use.read = bySkill(&recent), bySkill(&ever), s.Read()
	for _, u := range agents.Usages() {
		if u.Activations > 0 {
			use.agents = append(use.agents, agentUsage{u.Agent, u.Activations})
		}
	}
	return use, nil
}

func bySkill(s *audit.Stats) map[skillKey]audit.Usage {
	all := map[skillKey]audit.Usage{}
	for _, u := range s.Usages() {
		all[skillKey{u.Skill, u.Pack}] = u
	}
	return all
}

// of returns a skill with its use.
func (l *logUsage) of(k *catalog.Skill) skillUse {
	u := l.recent[skillKey{k.Name, k.Pack}]
	return skillUse{
		Name: k.Name, Exact: k.Exact(), Pack: k.Pack, Version: k.Version, Layer: k.Layer, Path: k.Path(),
		Activations: u.Activations, Found: u.Found,
	}
}

// used reports whether a skill was used since then, also if that failed.
func (l *logUsage) used(k *catalog.Skill) bool { return l.recent[skillKey{k.Name, k.Pack}].Last != nil }

// selected returns the available skills that have the flags' properties.
func (o skillsOptions) selected(c *catalog.Catalog) []*catalog.Skill {
	return slices.DeleteFunc(slices.Clone(c.Skills()), func(k *catalog.Skill) bool {
		return o.userInvocable && !k.UserInvocable || !hasTags(k, o.tags)
	})
}

// printUnused prints the skills that were not used, and how to remove them.
func (a *app) printUnused(ctx context.Context, h *runtime.Host, c *catalog.Catalog, o skillsOptions) error {
	use, err := a.readUsage(ctx, h, o.usage)
	if err != nil {
		return err
	}
	skills := o.selected(c)
	d := unusedDocument{
		Since: use.since, Records: use.read.Records, Damaged: use.read.Damaged, Searched: len(skills),
		Agents: append([]agentUsage{}, use.agents...), Unused: []unusedSkill{}, Commands: []string{},
	}
	if !use.first.IsZero() {
		d.LogStart = &use.first
	}
	var removable []*catalog.Skill
	for _, k := range skills {
		if use.used(k) {
			continue
		}
		row := unusedSkill{
			skillUse: use.of(k), Last: use.ever[skillKey{k.Name, k.Pack}].Last,
			Tokens: tokens.Estimate(k.Name) + tokens.Estimate(k.Description) + tokens.Estimate(k.WhenToUse),
		}
		if t, ok := use.installed[k.Pack]; ok && k.Pack != "" {
			row.Installed = &t
		} else {
			removable = append(removable, k)
		}
		d.Unused = append(d.Unused, row)
	}
	slices.SortStableFunc(d.Unused, func(x, y unusedSkill) int { return cmp.Compare(y.Found, x.Found) })
	d.Commands = append(d.Commands, removals(c.Skills(), removable, use)...)
	if a.JSON {
		return a.PrintJSON(d)
	}
	return a.unusedTable(d)
}

func (a *app) unusedTable(d unusedDocument) error {
	if d.Searched == 0 {
		a.Note("No skills available.")
		return nil
	}
	defer a.explainUsage(d)
	if len(d.Unused) == 0 {
		a.Note("All %s used since %s.", textx.CountOf(d.Searched, "skill was", "skills were"), day(d.Since))
		return nil
	}
	rows, sum := [][]string{{"NAME", "PACK", "FOUND", "TOKENS", "LAST USE"}}, 0
	for _, k := range d.Unused {
		last := "never"
		switch {
		case k.Last != nil:
			last = console.Span(a.Now().Sub(*k.Last)) + " ago"
		case k.Installed != nil:
			last = "never, installed " + console.Span(a.Now().Sub(*k.Installed)) + " ago"
		}
		rows = append(rows, []string{
			k.Name, cmp.Or(strings.TrimSpace(k.Pack+" "+k.Version), k.Layer), strconv.FormatInt(k.Found, 10),
			strconv.Itoa(k.Tokens), last,
		})
		sum += k.Tokens
	}
	if err := a.Paged(func() error { return a.fittedTable(rows) }); err != nil {
		return err
	}
	take := "They take"
	if len(d.Unused) == 1 {
		take = "It takes"
	}
	a.Note("%d of %s not used since %s. %s about %d tokens in each list of skills.", len(d.Unused),
		textx.CountOf(d.Searched, "skill was", "skills were"), day(d.Since), take, sum)
	if len(d.Commands) > 0 {
		a.Note("Remove or deny them:\n  %s", strings.Join(d.Commands, "\n  "))
	}
	return nil
}

// explainUsage states what the log does not show.
func (a *app) explainUsage(d unusedDocument) {
	if d.LogStart == nil || d.LogStart.After(d.Since) {
		a.Warn("the audit log does not go back to %s: skills may have been used before its first record", day(d.Since))
	}
	var agents []string
	for _, g := range d.Agents {
		agents = append(agents, fmt.Sprintf("%s (%d)", cmp.Or(console.Flat(g.Agent), "skillpm"), g.Activations))
	}
	text := "The log has no activations."
	if len(agents) > 0 {
		text = "The log has activations by " + textx.FirstAndMore(agents, 10) + "."
	}
	a.Note("%s It does not have those of agents without hooks. List agents with: skillpm agents", text)
}

// removals returns the commands that remove packs without a used skill, and deny the others. Those of the machine are
// the administrator's decision, and local skills are the user's files.
func removals(all, unused []*catalog.Skill, use *logUsage) (commands []string) {
	used := map[string]bool{}
	for _, k := range all {
		used[k.Pack] = used[k.Pack] || use.used(k)
	}
	removed := map[string]bool{}
	for _, k := range unused {
		switch {
		case k.Pack == "" || k.Scope == catalog.ScopeMachine:
		case used[k.Pack]:
			commands = append(commands, "skillpm deny "+k.Exact())
		case k.Scope == catalog.ScopeUser:
			removed["skillpm remove "+k.Pack+" --scope user"] = true
		default:
			removed["skillpm remove "+k.Pack] = true
		}
	}
	return append(slices.Sorted(maps.Keys(removed)), commands...)
}

// day formats the day of a time.
func day(t time.Time) string { return t.Format(time.DateOnly) }

// printOverlaps prints the pairs of skills that compete for the same tasks.
func (a *app) printOverlaps(ctx context.Context, h *runtime.Host, c *catalog.Catalog, o skillsOptions) error {
	use, err := a.readUsage(ctx, h, o.usage)
	if err != nil {
		return err
	}
	skills := o.selected(c)
	candidates := make([]catalog.Candidate, len(skills))
	for i, k := range skills {
		candidates[i] = catalog.Candidate{
			Name: k.Name, Description: k.Description, WhenToUse: k.WhenToUse, Tags: k.Tags,
		}
	}
	overlaps, err := catalog.FindOverlaps(ctx, candidates)
	if err != nil {
		return err
	}
	d := overlapsDocument{Since: use.since, Searched: len(skills), Overlaps: []overlapJSON{}}
	for _, p := range overlaps {
		pair := overlapJSON{Score: p.Score}
		for _, i := range []int{p.First, p.Second} {
			pair.Skills = append(pair.Skills, overlapSide{use.of(skills[i]), skills[i].Description})
		}
		d.Overlaps = append(d.Overlaps, pair)
	}
	switch {
	case a.JSON:
		return a.PrintJSON(d)
	case len(overlaps) == 0:
		a.Note("No overlaps in %s.", textx.Count(d.Searched, "skill"))
		return nil
	}
	if err := a.Paged(func() error { return a.overlapList(d.Overlaps) }); err != nil {
		return err
	}
	a.Note("%s of skills compete for the same tasks, by their descriptions.", textx.Count(len(overlaps), "pair"))
	a.Note("Change the descriptions so that they differ, or remove or deny one of the skills.")
	return nil
}

// overlapList prints pairs, with the descriptions below the names.
func (a *app) overlapList(pairs []overlapJSON) error {
	colors, width := a.Palette(a.Stdout), console.TerminalWidth(a.Stdout)
	for _, p := range pairs {
		for i, k := range p.Skills {
			lead := strings.Repeat(" ", 4)
			if i == 0 {
				lead = fmt.Sprintf("%-4s", percent(p.Score))
			}
			line := fmt.Sprintf("%s  %s  %s, %s", lead, colors.Bold(console.Flat(k.Name)),
				console.Flat(cmp.Or(k.Pack, k.Layer)), textx.Count(k.Activations, "activation"))
			text := "      " + colors.Dim(console.Fitted(console.Flat(k.Description), max(width-6, 0)))
			if _, err := fmt.Fprintf(a.Stdout, "%s\n%s\n", line, text); err != nil {
				return err
			}
		}
	}
	return nil
}
