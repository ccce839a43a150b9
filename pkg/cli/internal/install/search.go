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
		Use:   "search [WORD...]",
		Short: "Search registries for packs",
		Long: `The search covers names, tags, skills, and descriptions of packs. The search includes
registries that list their packs, local packs, the embedded index, and installed packs.
Without a WORD, the command lists all packs, the newest first.

A word matches its other forms: deploying finds deploy. The last word also matches the
beginning of a longer word. If no pack contains a word, the search accepts one typo in the
word. Packs that match all words come first. If a registry has copies of a pack with the
same skills, the command lists them with the pack that was published first.

--offline searches the cached lists of registries. skillpm warns about unreachable
registries. The command does not search OCI registries, ClawHub, or apm registries.`,
		Example: `  skillpm search deploy to kubernetes
  skillpm search  # all packs, the newest first
  skillpm search pdf tables --json
  skillpm search changelog --registry https://index.example.com --limit 3`,
		Args: console.Need(0, console.MaxArguments, "words"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Limit < 1 {
				return diag.Errorf(diag.Usage, "--limit must be at least 1, not %d", o.Limit)
			}
			if !cmd.Flags().Changed("limit") && strings.TrimSpace(strings.Join(args, "")) == "" {
				o.Limit = 0
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
	f.IntVarP(&o.Limit, "limit", "n", o.Limit, "show at most `N` packs; without a WORD, the default is all")
	f.StringVar(&o.Registry, "registry", "", "search only the registry `REGISTRY` and installed packs")
	f.BoolVar(&o.Offline, "offline", false, "do not use the network")
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
		a.Note("No pack matches %q; searched for %s instead.", t.Word, strings.Join(t.As[:min(3, len(t.As))], ", "))
	}
	if len(r.Packs) == 0 {
		a.printNoMatch(r)
		return nil
	}
	if err := a.Paged(func() error {
		for _, p := range r.Packs {
			a.printFound(p, console.TerminalWidth(a.Stdout))
		}
		return nil
	}); err != nil {
		return err
	}
	found, first := "Found "+textx.Count(r.Total, "pack"), "best"
	if r.Query == "" {
		first = "newest"
	}
	if len(r.Packs) < r.Total {
		found += fmt.Sprintf(" and printed the %s %d (print more with --limit N)", first, len(r.Packs))
	}
	a.Note("%s. Show details with: skillpm info %s", found, r.Packs[0].Pack)
	return nil
}

// notSearched prints which registries were not searched, or only from the cache.
func (a *app) notSearched(r *skillpm.SearchReport) {
	var unlisted []string
	for _, reg := range r.Registries {
		switch {
		case reg.Stale:
			a.Warn("searched the cached list of the registry %s: %s", reg.Name, reasonOf(reg.Name, reg.Error))
		case reg.Unlisted:
			unlisted = append(unlisted, reg.Name)
		case reg.Error != "":
			a.Warn("cannot search the registry %s: %s", reg.Name, reasonOf(reg.Name, reg.Error))
		}
	}
	if len(unlisted) > 0 {
		a.Note("Skipped registries that do not list their packs: %s", strings.Join(unlisted, ", "))
	}
}

// reasonOf returns the text of an error about a registry without the name of the registry.
func reasonOf(name, text string) string {
	return strings.TrimPrefix(strings.TrimPrefix(text, "registry "), name+": ")
}

func (a *app) printNoMatch(r *skillpm.SearchReport) {
	packs := 0
	for _, reg := range r.Registries {
		packs += reg.Packs
	}
	if a.Quiet {
		return
	}
	if r.Query == "" {
		fmt.Fprintln(a.Stdout, "No registry lists packs.")
		a.Note("List registries with: skillpm registry list")
		return
	}
	fmt.Fprintf(a.Stdout, "No matches for %q in %s.\n", r.Query, textx.Count(packs, "pack"))
	if len(r.Near) > 0 {
		a.Note("Did you mean %s?", strings.Join(r.Near, " or "))
	}
}

// printFound prints a pack: name, version, status, description, and matching skills.
func (a *app) printFound(p skillpm.SearchResult, width int) {
	palette := a.Palette(a.Stdout)
	line := palette.Bold(console.Flat(p.Pack)) + " " + console.Flat(p.Version)
	switch {
	case p.Installed == nil:
	case p.Installed.Version == p.Version:
		line += "  " + palette.Green("installed")
	default:
		line += "  " + palette.Yellow(console.Flat(p.Installed.Version)+" installed")
	}
	if p.Demo {
		line += "  demo"
	}
	if len(p.Registries) > 1 {
		line += "  in " + console.Flat(strings.Join(p.Registries, " and "))
	}
	if width > 0 {
		line = console.WrapMessage(line, width)
	}
	fmt.Fprintln(a.Stdout, line)
	if p.Deprecated != "" {
		fmt.Fprintln(a.Stdout, "  "+palette.Red(console.Fitted("deprecated: "+console.Flat(p.Deprecated), width-2)))
	}
	if text := denial(p.PackDenial, p.Count); text != "" {
		fmt.Fprintln(a.Stdout, "  "+palette.Red(console.Fitted(console.Flat(text), width-2)))
	}
	about := p.Description
	if about == "" && len(p.Skills) > 0 {
		about = p.Skills[0].Description
	}
	if about != "" {
		fmt.Fprintln(a.Stdout, "  "+console.Fitted(console.Flat(about), width-2))
	}
	for _, text := range []string{matchingSkills(p), copies(p)} {
		if text != "" {
			fmt.Fprintln(a.Stdout, "  "+palette.Dim(console.Fitted(text, width-2)))
		}
	}
}

// copies lists the packs with the same skills.
func copies(p skillpm.SearchResult) string {
	const most = 3
	var names []string
	for _, name := range p.Copies[:min(most, len(p.Copies))] {
		names = append(names, console.Flat(name))
	}
	text := strings.Join(names, ", ")
	if more := len(p.Copies) - len(names); more > 0 {
		return fmt.Sprintf("copies: %s and %d more", text, more)
	} else if text != "" {
		return "copies: " + text
	}
	return ""
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
