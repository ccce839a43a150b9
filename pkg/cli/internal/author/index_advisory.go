package author

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
)

func newIndexAdvisory(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "advisory",
		Short: "Publish advisories about vulnerable and malicious packs",
		Long: `An advisory is a file in the directory advisories of an index, in the Open Source
Vulnerability format (OSV). Clients read a feed of all advisories, which "skillpm index
advisory publish" signs. They check packs against the feed with "skillpm audit", at each
installation, and at each activation.`,
		Example: `  skillpm index advisory add acme/deploy --malicious --summary "Sends SSH keys"
  skillpm index advisory check
  skillpm index advisory publish --signing-key feed.key`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, c := range []*cobra.Command{newAdvisoryAdd(a), newAdvisoryCheck(a), newAdvisoryPublish(a)} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func newAdvisoryAdd(a *app) *cobra.Command {
	var o indexer.AdvisoryOptions
	cmd := &cobra.Command{
		Use:   "add [PACK]",
		Short: "Add or withdraw an advisory",
		Long: `The command writes the file of an advisory about PACK (owner/name). Without flags for versions
and content, all versions are affected. An advisory about malicious versions that the index
has also gets the digests of their skills, so that clients find copies in other packs. Skills
that an unaffected version also has are left out.

Without PACK, the advisory is about content only: --tree. Use --file for a record that another
program wrote, and --withdraw for an advisory that was wrong. Then run "skillpm index advisory
publish".`,
		Example: `  skillpm index advisory add acme/deploy --fixed 1.2.0 --summary "Runs text"
  skillpm index advisory add acme/deploy --malicious --summary "Sends SSH keys"
  skillpm index advisory add --malicious --tree ./deploy --summary "Deletes all"
  skillpm index advisory add --withdraw SKILL-2026-0001`,
		Args:              console.Need(0, 1, "one PACK"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Pack = console.FirstOf(args)
			c, err := a.curator()
			if err != nil {
				return err
			}
			r, err := c.AddAdvisory(cmd.Context(), o)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			fmt.Fprintln(a.Stdout, r.File)
			switch {
			case r.DryRun:
				a.Note("Dry run: the index did not change.")
			case !r.Changed:
				a.Note("%s did not change.", r.Advisory.ID)
			case o.Withdraw != "":
				a.Note("Withdrew %s. Publish the feed with: skillpm index advisory publish", r.Advisory.ID)
			default:
				a.Note("Added %s. Publish the feed with: skillpm index advisory publish", r.Advisory.ID)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "index", "", "use the index in `DIR` instead of this directory")
	f.StringVar(&o.Summary, "summary", "", "describe the problem in one `SENTENCE`")
	f.StringVar(&o.Details, "details", "", "describe the problem in `TEXT` (Markdown)")
	f.BoolVar(&o.Malicious, "malicious", false, "state that the pack or content is an attack")
	f.StringVar(&o.Introduced, "introduced", "", "set the first affected `VERSION`")
	f.StringVar(&o.Fixed, "fixed", "", "set the first `VERSION` that is no longer affected")
	f.StringVar(&o.LastAffected, "last-affected", "", "set the last affected `VERSION`, if none is fixed")
	f.StringSliceVar(&o.Versions, "affected", nil, "add single affected `VERSIONS`")
	f.StringArrayVar(&o.Trees, "tree", nil, "add the digest or directory of an affected `SKILL` (repeatable)")
	f.StringSliceVar(&o.Capabilities, "capability", nil,
		"add a `CAPABILITY` of the affected skills: "+strings.Join(policy.CapabilityNames(), ", ")+" (repeatable)")
	f.StringSliceVar(&o.Aliases, "alias", nil, "add `IDS` of the same problem in other databases")
	f.StringArrayVar(&o.References, "reference", nil, "add the `URL` of a page (repeatable)")
	f.StringVar(&o.ID, "id", "", "use `ID` instead of the next free one")
	f.StringVar(&o.File, "file", "", "add the OSV record in `FILE`")
	f.StringVar(&o.Withdraw, "withdraw", "", "withdraw the advisory with `ID`")
	f.BoolVar(&o.DryRun, "dry-run", false, "show the file that would be written, without changing the index")
	a.CompleteFlag(cmd, "capability", cobra.FixedCompletions(policy.CapabilityNames(),
		cobra.ShellCompDirectiveNoFileComp))
	console.MarkRare(cmd, "capability", "details", "alias", "reference", "id")
	_ = cmd.MarkFlagDirname("index") // cannot fail: the flag exists
	return cmd
}

func newAdvisoryCheck(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Verify the advisories of an index",
		Long: `The command fails if an advisory is not valid, or if the signature of the feed is wrong. It
warns if the feed is missing, out of date, or expired.`,
		Example: `  skillpm index advisory check
  skillpm index advisory check --index ./index
  skillpm index advisory check --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.curator()
			if err != nil {
				return err
			}
			r, err := c.CheckAdvisories(cmd.Context(), dir)
			if err != nil {
				return err
			}
			failed := error(nil)
			if !r.OK {
				failed = console.Reported{Exit: diag.Invalid}
			}
			if a.JSON {
				if err := a.PrintJSON(r); err != nil {
					return err
				}
				return failed
			}
			a.listIndexFindings(&indexer.CheckReport{Findings: r.Findings})
			if len(r.Findings) == 0 && !a.Quiet {
				text := textx.CountOf(r.Advisories, "advisory", "advisories")
				if r.Edition != nil {
					text += "; the feed is valid until " + r.Edition.Expires.Format(time.DateOnly)
				}
				fmt.Fprintf(a.Stdout, "%s %s: %s\n", a.Palette(a.Stdout).Green("✓"), r.Index, text)
			}
			return failed
		},
	}
	cmd.Flags().StringVar(&dir, "index", "", "use the index in `DIR` instead of this directory")
	_ = cmd.MarkFlagDirname("index") // cannot fail: the flag exists
	return cmd
}

// The validity of a feed in days: the default, and the limits.
const (
	defaultValidDays = 30
	maxValidDays     = 366
)

func newAdvisoryPublish(a *app) *cobra.Command {
	var o indexer.PublishAdvisoriesOptions
	var keyFile string
	days := defaultValidDays
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Write and sign the feed of advisories",
		Long: `The command writes advisories/feed.ndjson, which has all advisories, its signature, and the
public key. Then publish the index as usual: commit and push it, copy it to the web server,
or run "skillpm index publish".

Each edition has a higher number and an expiry, so that nobody can hide newer advisories for
long. Run the command again before the feed expires, also without changes. Clients keep to
the key that they see first, unless their settings name one.`,
		Example: `  skillpm index advisory publish --signing-key feed.key
  skillpm index advisory publish --index ./index
  skillpm index advisory publish --valid-days 14`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 || days > maxValidDays {
				return diag.Errorf(diag.Usage, "--valid-days must be from 1 to %d, not %d", maxValidDays, days)
			}
			key, err := a.SigningKey(keyFile)
			if err != nil {
				return err
			}
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.Key, o.ValidFor = key, time.Duration(days)*24*time.Hour
			r, err := c.PublishAdvisories(cmd.Context(), o)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			if len(r.Files) > 0 {
				fmt.Fprintln(a.Stdout, strings.Join(r.Files, "\n"))
			}
			a.Note("Signed a feed of %s with %s. It expires on %s.",
				textx.CountOf(r.Advisories, "advisory", "advisories"), r.Signer, r.Edition.Expires.Format(time.DateOnly))
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "index", "", "use the index in `DIR` instead of this directory")
	f.StringVar(&keyFile, "signing-key", "", "sign with the private key in `FILE`")
	f.IntVar(&days, "valid-days", days, "let the feed expire in `N` days")
	_ = cmd.MarkFlagDirname("index") // cannot fail: the flag exists
	return cmd
}
