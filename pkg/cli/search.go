package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/skillpm/skillpm/pkg/diag"
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
		Args: need(1, maxArguments, "words to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Limit < 1 {
				return diag.Errorf(diag.Usage, "--limit takes a number of packs, at least 1")
			}
			c, err := a.client()
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
	a.completeFlag(cmd, "registry", a.completeRegistries)
	return cmd
}

// maxArguments is more words than a command line has.
const maxArguments = 1 << 20

// completeRegistries completes the names and addresses of the registries that are configured.
func (a *app) completeRegistries(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return matching(c.SearchedNames(), prefix), cobra.ShellCompDirectiveDefault
}

// printSearch prints what was found, a few lines for each pack.
func (a *app) printSearch(r *skillpm.SearchReport) error {
	a.notSearched(r)
	if a.json {
		return a.printJSON(r)
	}
	for _, t := range r.Typos {
		a.note("no pack has %q: searched for %s", t.Word, strings.Join(t.As[:min(3, len(t.As))], ", "))
	}
	if len(r.Packs) == 0 {
		a.nothingFound(r)
		return nil
	}
	width := terminalWidth(a.Stdout)
	for _, p := range r.Packs {
		a.printFound(p, width)
	}
	if more := r.Total - len(r.Packs); more > 0 {
		a.note("%d more: --limit N lists them", more)
	}
	a.note("skillpm info %s tells more", r.Packs[0].Pack)
	return nil
}

// notSearched says which registries were not searched, or only as they were.
func (a *app) notSearched(r *skillpm.SearchReport) {
	var unlisted []string
	for _, reg := range r.Registries {
		switch {
		case reg.Stale:
			a.warn("%s is searched as it was last seen: %s", reg.Name, reg.Error)
		case reg.Unlisted:
			unlisted = append(unlisted, reg.Name)
		case reg.Error != "":
			a.warn("not searched: %s", reg.Error)
		}
	}
	if len(unlisted) > 0 {
		a.note("not searched: %s; OCI registries do not say which packs they have", strings.Join(unlisted, ", "))
	}
}

func (a *app) nothingFound(r *skillpm.SearchReport) {
	packs := 0
	for _, reg := range r.Registries {
		packs += reg.Packs
	}
	if a.quiet {
		return
	}
	fmt.Fprintf(a.Stdout, "nothing found for %q in %s\n", printable(r.Query), plural(packs, "pack"))
	if len(r.Near) > 0 {
		a.note("did you mean %s?", strings.Join(r.Near, " or "))
	}
}

// printFound prints a pack: its name, version and what is to be known of it, what it is for, and the skills that fit.
func (a *app) printFound(p skillpm.FoundPack, width int) {
	colours := a.palette(a.Stdout)
	line := colours.bold(flat(p.Pack)) + " " + flat(p.Version)
	switch {
	case p.Installed == nil:
	case p.Installed.Version == p.Version:
		line += "  " + colours.green("installed")
	default:
		line += "  " + colours.yellow(flat(p.Installed.Version)+" installed")
	}
	if len(p.Registries) > 1 {
		line += "  in " + flat(strings.Join(p.Registries, " and "))
	}
	fmt.Fprintln(a.Stdout, line)
	if p.Deprecated != "" {
		fmt.Fprintln(a.Stdout, "  "+colours.red(fitted("deprecated: "+flat(p.Deprecated), width-2)))
	}
	if p.Denied != "" {
		fmt.Fprintln(a.Stdout, "  "+colours.red(fitted("denied: "+flat(p.Denied), width-2)))
	}
	about := p.Description
	if about == "" && len(p.Skills) > 0 {
		about = p.Skills[0].Description
	}
	if about != "" {
		fmt.Fprintln(a.Stdout, "  "+fitted(flat(about), width-2))
	}
	if text := skillsFound(p); text != "" {
		fmt.Fprintln(a.Stdout, "  "+colours.dim(fitted(text, width-2)))
	}
}

// skillsFound names the skills that fit, and how many others there are.
func skillsFound(p skillpm.FoundPack) string {
	const most = 6
	var names []string
	for _, s := range p.Skills[:min(most, len(p.Skills))] {
		names = append(names, flat(s.Name))
	}
	text := strings.Join(names, ", ")
	switch more := p.Count - len(names); {
	case p.Count == 0:
		return ""
	case len(names) == 0:
		return plural(p.Count, "skill")
	case more > 0:
		return fmt.Sprintf("skills: %s and %d more", text, more)
	default:
		return "skills: " + text
	}
}

// flat returns a text of a pack on one line, without what could steer a terminal.
func flat(text string) string { return strings.Join(strings.Fields(printable(text)), " ") }

// terminalWidth returns how many columns a stream has, 0 where it is no terminal.
func terminalWidth(stream io.Writer) int {
	if !terminal(stream) {
		return 0
	}
	if o, ok := stream.(*output); ok {
		stream = o.Writer
	}
	columns, _, err := term.GetSize(int(stream.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// fitted cuts a text to so many columns; it stays whole where nobody knows how many there are.
func fitted(text string, columns int) string {
	if columns < 20 || cells([]rune(text)) <= columns {
		return text
	}
	used := 1 // the dots
	for i, r := range text {
		_, w := shown(r)
		if used += w; used > columns {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}
