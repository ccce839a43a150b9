package install

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newSearch(a *app) *cobra.Command {
	o := skillpm.SearchOptions{Limit: 10}
	cmd := &cobra.Command{
		Use:     "search WORD...",
		Short:   "Find packs by words",
		GroupID: "use",
		Long: `Find packs by words in their names, tags, skills and descriptions: in every
registry that lists its packs, in what was published on this machine, in the
index that skillpm brings along, and in what is installed.

Words are found in other forms, too (deploying finds deploy), the last one by its
beginning, and one that no pack has with a letter wrong. Packs that have all words
come first, and a pack whose name is what was asked for comes before others.

What a registry lists is kept, so that --offline searches it as it was last seen.
A registry that can't be reached is named in a warning, and an OCI registry, which
does not say what packs it has, in a note. The version of a pack is the one that an
install would take. The exit code is 0 also where nothing was found.`,
		Example: `  skillpm search deploy to kubernetes
  skillpm search pdf tables --json
  skillpm search changelog --registry https://index.example.com --limit 3`,
		Args: console.Need(1, console.MaxArguments, "words to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Limit < 1 {
				return diag.Errorf(diag.Usage, "--limit takes a number of packs, at least 1")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.Words = args
			r, err := c.Search(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printSearch(r)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.IntVar(&o.Limit, "limit", o.Limit, "list `N` packs at most")
	f.StringVar(&o.Registry, "registry", "", "search registry `R` only, and what is installed")
	f.BoolVar(&o.Offline, "offline", false, "use no network")
	a.CompleteFlag(cmd, "registry", a.completeRegistries)
	return cmd
}

// completeRegistries completes the names and addresses of configured registries.
func (a *app) completeRegistries(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return console.Matching(c.SearchedNames(), prefix), cobra.ShellCompDirectiveDefault
}

// printSearch prints the results, a few lines for each pack.
func (a *app) printSearch(r *skillpm.SearchReport) error {
	a.notSearched(r)
	if a.JSON {
		return a.PrintJSON(r)
	}
	for _, t := range r.Typos {
		a.Note("no pack has %q: searched for %s", t.Word, strings.Join(t.As[:min(3, len(t.As))], ", "))
	}
	if len(r.Packs) == 0 {
		a.printNoMatch(r)
		return nil
	}
	width := console.TerminalWidth(a.Stdout)
	for _, p := range r.Packs {
		a.printFound(p, width)
	}
	if more := r.Total - len(r.Packs); more > 0 {
		a.Note("%d more: --limit N lists them", more)
	}
	a.Note("skillpm info %s tells more", r.Packs[0].Pack)
	return nil
}

// notSearched prints which registries were not searched, or only from the cache.
func (a *app) notSearched(r *skillpm.SearchReport) {
	var unlisted []string
	for _, reg := range r.Registries {
		switch {
		case reg.Stale:
			a.Warn("%s is searched as it was last seen: %s", reg.Name, reg.Error)
		case reg.Unlisted:
			unlisted = append(unlisted, reg.Name)
		case reg.Error != "":
			a.Warn("not searched: %s", reg.Error)
		}
	}
	if len(unlisted) > 0 {
		a.Note("not searched: %s; OCI registries do not say which packs they have", strings.Join(unlisted, ", "))
	}
}

func (a *app) printNoMatch(r *skillpm.SearchReport) {
	packs := 0
	for _, reg := range r.Registries {
		packs += reg.Packs
	}
	if a.Quiet {
		return
	}
	fmt.Fprintf(a.Stdout, "nothing found for %q in %s\n", console.Printable(r.Query), textx.Count(packs, "pack"))
	if len(r.Near) > 0 {
		a.Note("did you mean %s?", strings.Join(r.Near, " or "))
	}
}

// printFound prints a pack: name, version, status, description, and matching skills.
func (a *app) printFound(p skillpm.SearchResult, width int) {
	colours := a.Palette(a.Stdout)
	line := colours.Bold(console.Flat(p.Pack)) + " " + console.Flat(p.Version)
	switch {
	case p.Installed == nil:
	case p.Installed.Version == p.Version:
		line += "  " + colours.Green("installed")
	default:
		line += "  " + colours.Yellow(console.Flat(p.Installed.Version)+" installed")
	}
	if len(p.Registries) > 1 {
		line += "  in " + console.Flat(strings.Join(p.Registries, " and "))
	}
	fmt.Fprintln(a.Stdout, line)
	if p.Deprecated != "" {
		fmt.Fprintln(a.Stdout, "  "+colours.Red(console.Fitted("deprecated: "+console.Flat(p.Deprecated), width-2)))
	}
	if p.Denied != "" {
		fmt.Fprintln(a.Stdout, "  "+colours.Red(console.Fitted("denied: "+console.Flat(p.Denied), width-2)))
	}
	about := p.Description
	if about == "" && len(p.Skills) > 0 {
		about = p.Skills[0].Description
	}
	if about != "" {
		fmt.Fprintln(a.Stdout, "  "+console.Fitted(console.Flat(about), width-2))
	}
	if text := matchingSkills(p); text != "" {
		fmt.Fprintln(a.Stdout, "  "+colours.Dim(console.Fitted(text, width-2)))
	}
}

// matchingSkills lists the matching skills, and the number of others.
func matchingSkills(p skillpm.SearchResult) string {
	const most = 6
	var names []string
	for _, s := range p.Skills[:min(most, len(p.Skills))] {
		names = append(names, console.Flat(s.Name))
	}
	text := strings.Join(names, ", ")
	switch more := p.Count - len(names); {
	case p.Count == 0:
		return ""
	case len(names) == 0:
		return textx.Count(p.Count, "skill")
	case more > 0:
		return fmt.Sprintf("skills: %s and %d more", text, more)
	default:
		return "skills: " + text
	}
}
