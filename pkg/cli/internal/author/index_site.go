package author

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
)

func newIndexSite(a *app) *cobra.Command {
	var o indexer.SiteOptions
	cmd := &cobra.Command{
		Use:   "site [DIR] --output DIR",
		Short: "Generate a website for an index",
		Long: `The website of the index in DIR (default: this directory) has static pages, which work on
any web server and below any path. Each pack has a page with its skills, versions,
dependencies, dependents, signers, validation findings, and the install command. Only the
search and the copy buttons need JavaScript.

For each pack, the command fetches the newest release that is not yanked, and compares its
digests with the index. If skillpm cannot read a pack, it reports the reason, does not change
the website, and fails with exit code 8, or 6 if content differs from the index. With
--keep-going, it updates the other packs before it fails. A pack that it cannot read keeps its
last pages; without last pages, its page shows the reason.

skillpm verifies signatures with the keys of --key and of trusted-keys in the user's settings.
The website shows other signatures as not checked.

The website includes .well-known/agent-skills/index.json and an artifact of each skill, from
which other tools can install skills: npx skills add URL. With --base-url, it also includes
.well-known/ai-catalog.json, an AI Catalog of the skills. --marketplace writes a directory of
plugins for Claude Code. Keep that directory in a git repository.

The index, --output, and --marketplace need separate directories. None of them may contain
another.
skillpm writes only changed files, and removes or replaces only files that it created.`,
		Example: `  skillpm index site ./index --output ./public --base-url https://skills.example
  skillpm index site --output ../public --title "Skills of Acme"
  skillpm index site --output ../public --key acme.pub --marketplace ../plugins`,
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
	f.StringVarP(&o.Out, "output", "o", "", "write the website to `DIR` (required)")
	f.StringVar(&o.Title, "title", "", "set the title of the website to `TEXT` (default: the title of the index)")
	f.StringVar(&o.BaseURL, "base-url", "", "set the `URL` of the published website")
	f.StringVar(&o.Registry, "registry-url", "", "show commands on the website that use the index at `URL`")
	f.StringArrayVar(&o.Keys, "key", nil, "verify signatures with the public key in `FILE`; repeatable")
	f.BoolVar(&o.NoWellKnown, "no-well-known", false, "leave out the files in .well-known")
	f.StringVar(&o.Marketplace, "marketplace", "",
		"write a Claude Code marketplace to `DIR`")
	f.BoolVar(&o.KeepGoing, "keep-going", false, "write the website although skillpm cannot read all packs")
	for _, name := range []string{"output", "marketplace"} {
		_ = cmd.MarkFlagDirname(name) // cannot fail: the flags exist
	}
	for _, name := range []string{"title", "base-url", "registry-url"} {
		a.CompleteFlag(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (a *app) printSite(r *indexer.SiteReport) error {
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	if a.JSON {
		if err := a.PrintJSON(r); err != nil || r.Code() == diag.OK {
			return err
		}
		return console.Reported{Exit: r.Code()}
	}
	a.warnUnfetched(r.Unfetched)
	failed := fmt.Sprintf("cannot read %d of %s", len(r.Unfetched), textx.Count(r.Packs, "pack"))
	if r.Code() != diag.OK && !r.Partial {
		return diag.Errorf(r.Code(), "%s; %s did not change", failed, r.Out).
			WithHint("run the command again later, or update the other packs with --keep-going")
	}
	fmt.Fprintln(a.Stdout, r.Out)
	if r.Marketplace != "" {
		fmt.Fprintln(a.Stdout, r.Marketplace)
	}
	a.Note("%s, %s; %s written, %d unchanged, %d removed.",
		textx.Count(r.Packs, "pack"), textx.Count(r.Skills, "skill"), textx.Count(r.Written, "file"),
		r.Unchanged, r.Removed)
	if r.Code() != diag.OK {
		return diag.Errorf(r.Code(), "%s; the website is incomplete", failed).
			WithHint("run the command again when skillpm can read the sources of these packs")
	}
	return nil
}

// warnUnfetched prints which packs could not be read, and why. An outage has the same reason for many packs.
func (a *app) warnUnfetched(list []indexer.Unfetched) {
	const most = 20
	for _, u := range list[:min(most, len(list))] {
		kept := ""
		if u.Kept != "" {
			kept = "; the website keeps " + u.Kept
		}
		a.Warn("cannot read %s %s: %s%s", u.Pack, u.Version, u.Problem, kept)
	}
	if more := len(list) - most; more > 0 {
		a.Warn("cannot read %s more; list all with --json", textx.Count(more, "pack"))
	}
}
