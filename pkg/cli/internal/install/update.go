package install

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newUpdate(a *app) *cobra.Command {
	var o skillpm.UpdateOptions
	cmd := &cobra.Command{
		Use:     "update [PACK...]",
		Aliases: []string{"upgrade", "up"},
		Short:   "Move packs to newer versions",
		GroupID: "use",
		Long: `Move packs to the highest versions that the ranges in skillpm.yaml allow: all of
them, or those that are named, also ones that only another pack requires. What
is not named stays as it is locked, unless a named pack needs it to move.

A branch moves to its newest commit, a tag that moves to what it stands for now.
With --latest ranges give way: a range is rewritten to allow the newest release
(^1.3 becomes ^2.0.0, ~1.3 becomes ~2.0.0, 1.3.0 becomes 2.0.0), and the tag of a
release becomes that of the newest. A digest moves with --latest, and only where
a tag or branch beside it says where to; a commit never moves.

Agents, link mode, chosen skills, aliases and the place in skillpm.yaml stay. A
pack goes back to an earlier version only where its version was withdrawn, or is
outside the range by now; that is marked as a downgrade. What could not move to
the newest version is listed with what holds it. skillpm diff shows beforehand
what changes in the skills' text.

An installed skill that was edited is not replaced: the update stops and shows
the edit. --keep leaves its pack as it is, --force replaces the skill and keeps a
copy in .skillpm/backup. Edited skills of packs that do not move stay either way.

A pack whose signer skillpm.lock records moves only to what the same has signed;
--accept-signer takes it as it is signed now, and records as the signer from then
on who has a key in --key or in trusted-keys of the settings, if anybody.

Where a registry or place can't be reached the update stops. With --offline only
what needs no network is asked, and the other packs stay where they are locked.`,
		Example: `  skillpm update
  skillpm update acme/deploy
  skillpm update --latest --dry-run
  skillpm update --keep                 leave packs alone that have edited skills`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.Packs = args
			r, err := c.Update(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printUpdate(r, o)
		},
		ValidArgsFunction: a.CompleteLocked,
	}
	f := cmd.Flags()
	f.BoolVar(&o.Latest, "latest", false, "go beyond the ranges in skillpm.yaml, and rewrite them")
	f.StringVar(&o.Registry, "registry", "",
		"look names up in registry `R` only: an index, an OCI prefix or an OCI layout")
	f.BoolVar(&o.Offline, "offline", false, "use no network")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and do nothing")
	editFlags(cmd, &o.Keep, &o.Force)
	scopeFlag(cmd, &o.Scope)
	a.SigningFlags(cmd, &o.Signing)
	return cmd
}

// printUpdate prints the changes of an update.
func (a *app) printUpdate(r *skillpm.InstallReport, o skillpm.UpdateOptions) error {
	if r.Changed || a.JSON || a.Quiet || len(r.Packs) == 0 {
		if err := a.printInstall(r, "install"); err != nil || a.JSON || a.Quiet {
			return err
		}
		a.printHeldBack(r)
		return nil
	}
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	p := a.Palette(a.Stdout)
	where := "within the ranges of skillpm.yaml"
	if o.Latest {
		where = "there is nothing newer"
	}
	stuck := func(p skillpm.OutdatedPack) bool { return o.Latest || p.Edited || p.Withdrawn != "" }
	if slices.ContainsFunc(r.HeldBack, stuck) {
		fmt.Fprintf(a.Stdout, "%s nothing to move: %s\n", p.Green("✓"), textx.Count(len(r.Packs), "pack"))
	} else {
		fmt.Fprintf(a.Stdout, "%s everything is up to date: %s, %s\n", p.Green("✓"),
			textx.Count(len(r.Packs), "pack"), where)
	}
	a.printHeldBack(r)
	return nil
}

// maxHeldBack is how many packs that are held back are listed.
const maxHeldBack = 10

// printHeldBack prints which packs are not at the newest version, and why.
func (a *app) printHeldBack(r *skillpm.InstallReport) {
	n := len(r.HeldBack)
	if n == 0 {
		return
	}
	are := "packs are"
	if n == 1 {
		are = "pack is"
	}
	fmt.Fprintf(a.Stdout, "%d %s held back:\n", n, are)
	for _, p := range r.HeldBack[:min(n, maxHeldBack)] {
		line := p.Current
		if p.Latest != p.Current {
			line += ", there is " + p.Latest
		}
		if note := outdatedNote(p); note != "" {
			line += ": " + note
		}
		fmt.Fprintf(a.Stdout, "  %s %s\n", p.Pack, console.Printable(line))
	}
	if n > maxHeldBack {
		fmt.Fprintf(a.Stdout, "  and %d more: skillpm outdated lists all\n", n-maxHeldBack)
	}
}
