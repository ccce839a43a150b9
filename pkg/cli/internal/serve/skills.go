package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// skillsOptions are the flags of "skills".
type skillsOptions struct {
	tags              []string
	userInvocable     bool
	all, keepWatching bool
	usage             usageOptions
}

func newSkills(a *app) *cobra.Command {
	var o skillsOptions
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "List the skills that an agent sees",
		Long: `Skills come from the layers of the profile. The usual order of precedence is enterprise,
personal, project, and installed packs. If several skills have the same name, the skill in
the first layer is available. The list does not contain skills that are only for other
agents, tenants, or environments, or skills that skills.allowed excludes. Skills that need
an approval are marked; agents do not see them, and --json does not list them.

--all lists every skill, with the reason if the skill is not available. The command
reports problems of skills on standard error. --watch lists the skills again after each
change.

--unused lists the skills without an activation since TIME, how often searches suggested
them, and an estimate of the tokens that they take in each list of skills. For skills of
packs, it also prints commands that remove or deny them. The audit log has the activations
by skillpm and by agents whose hooks skillpm added ("skillpm connect"). It does not have
those of other agents.

--overlaps lists pairs of skills with descriptions so similar that they compete for the same
tasks. The percentage is how well each skill matches the description of the other.`,
		Example: `  skillpm skills
  skillpm skills --tag kubernetes --profile claude-code
  skillpm skills --all
  skillpm skills --user-invocable --json
  skillpm skills --unused --since 90d
  skillpm skills --overlaps`,
	}
	serve := a.RuntimeFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.tags, "tag", nil, "list only skills with `TAG`; repeatable, all tags must match")
	f.BoolVar(&o.userInvocable, "user-invocable", false, "list only skills that users may activate with /NAME")
	f.BoolVar(&o.all, "all", false, "also list shadowed, filtered, and invalid skills, with the reason")
	f.BoolVar(&o.keepWatching, "watch", false, "list again when skills change, until Ctrl-C")
	f.BoolVar(&o.usage.unused, "unused", false, "list unused skills, and how to remove them")
	f.BoolVar(&o.usage.overlaps, "overlaps", false, "list pairs of skills that compete for the same tasks")
	f.StringVar(&o.usage.since, "since", "30d", "count uses since `TIME`: 30d, 2w, 36h, or a date such as 2026-11-22")
	f.StringArrayVar(&o.usage.logs, "log", nil, "read the audit log or directory `LOG` instead of yours; repeatable")
	a.CompleteFlag(cmd, "tag", a.completeTags)
	a.CompleteFlag(cmd, "since", cobra.NoFileCompletions)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.usage.check(cmd); err != nil {
			return err
		}
		h, err := a.Host(cmd.Context(), serve)
		if err != nil {
			return err
		}
		c, err := h.Catalog(cmd.Context())
		if err != nil {
			return err
		}
		switch {
		case o.usage.unused:
			return a.printUnused(cmd.Context(), h, c, o)
		case o.usage.overlaps:
			return a.printOverlaps(cmd.Context(), h, c, o)
		}
		if err := a.printSkills(h, c, o); err != nil || !o.keepWatching {
			return err
		}
		return a.watchSkills(cmd.Context(), h, c, o)
	}
	return cmd
}

// watchSkills prints the list whenever it changes, until the context ends.
func (a *app) watchSkills(ctx context.Context, h *runtime.Host, c *catalog.Catalog, o skillsOptions) error {
	a.Note("Watching for changes. Press Ctrl-C to stop.")
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var unread error
	err := c.Watch(ctx, func(c *catalog.Catalog) {
		a.Note("%s: skills changed", a.Now().Format(time.TimeOnly))
		if unread = a.printSkills(h, c, o); unread != nil {
			stop()
		}
	})
	switch {
	case unread != nil:
		return unread
	case ctx.Err() != nil:
		return console.Reported{Exit: diag.Interrupted} // the context ended
	}
	return err
}

// skillJSON is a skill in the output of "skills --json" and "which --json".
type skillJSON struct {
	catalog.Entry
	Exact      string `json:"exact"`
	Path       string `json:"path"`
	ShadowedBy string `json:"shadowedBy,omitempty"` // the path of the skill that shadows it
}

func newSkillJSON(e catalog.Entry) skillJSON {
	out := skillJSON{Entry: e, Exact: e.Exact(), Path: e.Path()}
	if e.By != nil {
		out.ShadowedBy = e.By.Path()
	}
	return out
}

// printSkills prints the skills of a catalog, and the problems of others.
func (a *app) printSkills(h *runtime.Host, c *catalog.Catalog, o skillsOptions) error {
	list := []skillJSON{}
	unapproved := 0
	for _, e := range c.All() {
		listed := e.State == catalog.Available || o.all
		if e.State == catalog.Unapproved && !a.JSON { // people can approve it
			listed, unapproved = true, unapproved+1
		}
		if !listed || o.userInvocable && !e.UserInvocable || !hasTags(e.Skill, o.tags) {
			continue
		}
		list = append(list, newSkillJSON(e))
	}
	if a.JSON {
		findings := c.Findings()
		if findings == nil {
			findings = []diag.Finding{}
		}
		return a.PrintJSON(skillsDocument{h.Profile().ID, c.Off(), h.Project(), list, findings})
	}
	defer a.findings(h, c, o.all) // after the list, which may be long
	switch {
	case c.Off():
		a.Note("%s", noSkills(h, c))
		return nil
	case len(list) == 0 && (len(o.tags) > 0 || o.userInvocable):
		a.Note("No matching skills. List all skills with: skillpm skills")
		return nil
	case len(list) == 0:
		a.Note("%s", noSkills(h, c))
		return nil
	}
	table := func() error { return a.skillTable(h, list, o.all) }
	if o.keepWatching {
		if err := table(); err != nil {
			return err
		}
	} else if err := a.Paged(table); err != nil {
		return err
	}
	a.Note("%s.", textx.Count(len(list), "skill"))
	if unapproved > 0 {
		a.Note("Agents do not see skills that need approval (%d). Show the reason with: skillpm skills --all", unapproved)
	}
	a.NoteUnlessEmpty(otherProfiles(h))
	return nil
}

// otherProfiles names the profiles that find skills in the project if the current one does not, "" for none.
func otherProfiles(h *runtime.Host) string {
	others := h.OtherProfiles()
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("Profile %s does not find skills of this project. Use --profile %s, or set profile in skillpm.yaml.",
		h.Profile().ID, textx.Or(others))
}

// noSkills explains why there are no skills, with a hint.
func noSkills(h *runtime.Host, c *catalog.Catalog) string {
	denied, why := 0, ""
	for _, e := range c.All() {
		if e.Denied() {
			denied, why = denied+1, e.Reason
		}
	}
	switch n := len(c.Absent()); {
	case c.Off():
		return "Skills are disabled."
	case n > 0:
		return "No skills available: run \"skillpm install\" to install " + textx.Count(n, "locked pack") + "."
	}
	if denied > 0 {
		return "No skills available: policies deny " + textx.Count(denied, "skill") + " (" + why +
			"). List denied skills with: skillpm skills --all"
	}
	if text := otherProfiles(h); text != "" {
		return "No skills available. " + text
	}
	if text := ownPack(h); text != "" {
		return "No skills available. " + text
	}
	return "No skills available. Search registries for packs with \"skillpm search\", " +
		"or create a skill with \"skillpm new\"."
}

// ownPack suggests how to use the skills of a pack whose directory is the project: they are available only in projects
// that require the pack.
func ownPack(h *runtime.Host) string {
	if h.Project() == "" {
		return ""
	}
	path := filepath.Join(h.Project(), pack.ManifestName)
	data, err := safefile.ReadOptional(path)
	if err != nil {
		return ""
	}
	m, _ := pack.CheckManifest(path, data)
	if m == nil || m.Name.IsZero() {
		return ""
	}
	return fmt.Sprintf("To try skills of the pack %s, run in another project: skillpm link %s", m.Name, h.Project())
}

// hasTags reports whether a skill has all of the tags.
func hasTags(s *catalog.Skill, tags []string) bool {
	return !slices.ContainsFunc(tags, func(tag string) bool { return !s.Tagged(tag) })
}

// skillTable prints skills as a table that fits the terminal.
func (a *app) skillTable(h *runtime.Host, list []skillJSON, all bool) error {
	rows := [][]string{{"NAME", "LAYER", "PACK", "DESCRIPTION"}}
	if all {
		rows[0] = []string{"NAME", "STATE", "LAYER", "PATH", "REASON"}
	}
	for _, s := range list {
		if all {
			rows = append(rows, []string{s.Name, string(s.State), s.Layer, displayPath(h, s.Path), s.Reason})
			continue
		}
		description := s.Description
		if s.State == catalog.Unapproved {
			description = string(s.State) + ": " + description
		}
		rows = append(rows, []string{s.Name, s.Layer, strings.TrimSpace(s.Pack + " " + s.Version), description})
	}
	return a.fittedTable(rows)
}

// fittedTable prints a table whose last column is truncated to the width of the terminal.
func (a *app) fittedTable(rows [][]string) error {
	width, used := console.TerminalWidth(a.Stdout), 0
	for i := range len(rows[0]) - 1 {
		widest := 0
		for _, row := range rows {
			widest = max(widest, console.Cells([]rune(console.Flat(row[i]))))
		}
		if used += widest; widest > 0 {
			used += 2
		}
	}
	for _, row := range rows {
		for i := range row {
			row[i] = console.Flat(row[i])
		}
		last := &row[len(row)-1]
		*last = console.Fitted(*last, max(width-used, min(width, 20)))
	}
	return console.Table(a.Stdout, rows)
}

// displayPath returns a path relative to the project or the home directory.
func displayPath(h *runtime.Host, path string) string {
	if p := h.Project(); p != "" && pathx.ContainsStrict(p, path) {
		return scope.Scope{Kind: scope.KindProject, Root: p}.Show(path)
	}
	return scope.Scope{Kind: scope.KindUser, Root: h.Paths().Home}.Show(path)
}

// maxFindings is how many findings are printed by default.
const maxFindings = 5

// findings prints errors and warnings about skills, by default only the first ones.
func (a *app) findings(h *runtime.Host, c *catalog.Catalog, all bool) {
	list := c.Findings()
	for i, f := range list {
		if i == maxFindings && !all {
			a.Warn("%s not shown; show all with: skillpm skills --all", textx.Count(len(list)-i, "more problem"))
			return
		}
		path := displayPath(h, filepath.FromSlash(f.Path))
		if f.Path == "" {
			a.Warn("%s [%s]", console.Flat(f.Message), f.Rule)
			continue
		}
		if f.Line > 0 {
			path += fmt.Sprintf(":%d", f.Line)
		}
		text := fmt.Sprintf("%s: %s", path, f.Message)
		if f.Fix != "" {
			text += " (" + f.Fix + ")"
		}
		a.Warn("%s [%s]", console.Flat(text), f.Rule) // it may contain file names with line breaks
	}
}

// completeTags completes the tags of the available skills.
func (a *app) completeTags(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c := a.CompletionCatalog(cmd)
	if c == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return console.Matching(c.Tags(), prefix), cobra.ShellCompDirectiveNoFileComp
}
