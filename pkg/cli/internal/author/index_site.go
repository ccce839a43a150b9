package author

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
)

func newIndexSite(a *app) *cobra.Command {
	var o indexer.SiteOptions
	cmd := &cobra.Command{
		Use:   "site [DIR] --out DIR",
		Short: "Make a catalogue of an index: pages for any web server",
		Long: `Make a catalogue of the index in DIR, or in this directory: pages that any web
server can show, below any path, with nothing to install or configure there. A
page for each pack has the text of its skills, its versions, what it requires
and what requires it, who signed it, what skillpm validate says of it, and the
command that installs it. Search and copying need JavaScript, reading does not.

The version of each pack that is shown, the highest release that was not
withdrawn, is fetched and checked against the index as for an install. A pack
that cannot be fetched has a page that says so, and a warning here. Signatures
are verified with the keys of --key and of trusted-keys in the user's settings;
others are shown as not checked.

With the pages come .well-known/agent-skills/index.json and an archive a skill,
from which other tools install: npx skills add URL. --marketplace makes a
directory of plugins for Claude Code, to be kept in a git repository.

The directories of the index, of --out and of --marketplace are beside each other:
the index and the marketplace must not be in the catalogue, nor around it. Files
are written where they changed. What an earlier run wrote and is not part
of the catalogue any more is removed; what skillpm did not write is never
replaced or removed.`,
		Example: `  skillpm index site ./index --out ./public --base-url https://skills.example
  skillpm index site --out ../public --title "Skills of Acme" --registry https://skills.example/index
  skillpm index site --out ../public --key acme.pub --marketplace ../plugins`,
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.Dir = console.FirstOf(args)
			r, err := c.Site(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printSite(r)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Out, "out", "o", "", "write the catalogue to `DIR`")
	f.StringVar(&o.Title, "title", "", "what the catalogue is called: `TEXT`; the index's title unless told otherwise")
	f.StringVar(&o.BaseURL, "base-url", "", "where it will be published: `URL`")
	f.StringVar(&o.Registry, "registry", "", "show how to add the index as a registry at `URL`")
	f.StringArrayVar(&o.Keys, "key", nil, "verify signatures with the public key in `FILE`; may be repeated")
	f.BoolVar(&o.NoWellKnown, "no-well-known", false, "without .well-known/agent-skills")
	f.StringVar(&o.Marketplace, "marketplace", "",
		"write a Claude Code marketplace to `DIR`, which is beside that of --out")
	for _, name := range []string{"out", "marketplace"} {
		_ = cmd.MarkFlagDirname(name) // cannot fail: the flags exist
	}
	for _, name := range []string{"title", "base-url", "registry"} {
		a.CompleteFlag(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (a *app) printSite(r *indexer.SiteReport) error {
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	for _, u := range r.Unfetched {
		a.Warn("%s %s could not be fetched, and its page says so: %s", u.Pack, u.Version, u.Problem)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	fmt.Fprintln(a.Stdout, console.Printable(r.Out))
	if r.Marketplace != "" {
		fmt.Fprintln(a.Stdout, console.Printable(r.Marketplace))
	}
	a.Note("%s, %s; %s written, %d as they were, %d removed",
		textx.Count(r.Packs, "pack"), textx.Count(r.Skills, "skill"), textx.Count(r.Written, "file"),
		r.Unchanged, r.Removed)
	return nil
}
