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
		Use:     "update [PACK[@VERSION]...]",
		Aliases: []string{"up"},
		Short:   "Update packs to newer versions",
		Long: `Without PACK, the command updates all packs to the newest versions that the ranges in
skillpm.yaml allow. PACK may be a dependency. Packs that you do not name stay at their
locked versions, unless a named pack needs newer versions of them. With @VERSION, the
command selects exactly this version, which the range must allow, unless --latest is set.

For a dependency on a branch, the command selects the newest commit. With --latest, the
command also rewrites ranges to allow the newest release. For example, ^1.3 becomes ^2.0.0,
~1.3 becomes ~2.0.0, and 1.3.0 becomes 2.0.0. The flag also rewrites tags of releases, and
the digests of tags and branches. A dependency on a commit never changes.

The command only downgrades a pack if its version was yanked or is outside the range. The
output marks downgrades, and lists packs that are held back, with the reason. To see the
changes to the skills first, run "skillpm diff".

The output begins with the capabilities that the update adds, such as hosts, secrets, and
tools, and with the restrictions that it lifts. If a policy has the rule
updates.capability-increase, the command asks on a terminal, or fails with exit code 7. For
the comparison, --dry-run downloads the new versions.

Before the command replaces a locally edited skill, it stops and shows the edit. --keep
keeps the pack of the skill; --force replaces the skill and keeps a copy in .skillpm/backup.

If skillpm.lock records the signer of a pack, the same signer must have signed the new
version. --accept-signer accepts and records a changed or missing signer.

If the owner of a pack is now bound to another registry, the command moves the pack there,
and shows both sources. --registry moves the packs to REGISTRY.

Published versions do not change. If the content of a locked version differs at its source,
the command fails with exit code 6. --accept-changed accepts the new content; ask the
publisher first. To see the difference, run "skillpm diff".

To undo an update, restore skillpm.yaml and skillpm.lock from version control, and run
"skillpm install".

If a registry or source is unreachable, the update stops. With --offline, packs that need
the network stay at their locked versions.`,
		Example: `  skillpm update
  skillpm update acme/deploy
  skillpm update acme/deploy@1.4.0
  skillpm update --latest --dry-run
  skillpm update --keep  # keep locally edited skills`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.Packs, o.Accept = args, a.AcceptIncreases
			r, err := c.Update(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printUpdate(r, o)
		},
		ValidArgsFunction: a.CompleteLocked,
	}
	f := cmd.Flags()
	f.BoolVar(&o.Latest, "latest", false, "update even outside the ranges in skillpm.yaml, and rewrite the ranges")
	f.StringVar(&o.Registry, "registry", "",
		"look names up only in the registry `REGISTRY`")
	f.BoolVar(&o.Offline, "offline", false, "do not use the network")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would change, without changing it")
	a.acceptChangedFlag(cmd, &o.ChangeOptions)
	editFlags(cmd, &o.Keep, &o.Force)
	scopeFlag(cmd, &o.Scope)
	a.SigningFlags(cmd, &o.Signing)
	return cmd
}

// printUpdate prints the changes of an update.
func (a *app) printUpdate(r *skillpm.InstallReport, o skillpm.UpdateOptions) error {
	if r.Changed || a.JSON || a.Quiet || len(r.Packs) == 0 {
		return a.printInstall(r, "install")
	}
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	p := a.Palette(a.Stdout)
	where := "within the ranges of skillpm.yaml"
	if o.Latest {
		where = "no newer versions"
	}
	a.printHeldBack(r)
	stuck := func(p skillpm.OutdatedPack) bool { return o.Latest || p.Edited || p.Yanked != "" }
	if slices.ContainsFunc(r.HeldBack, stuck) {
		fmt.Fprintf(a.Stdout, "%s Nothing to update: %s\n", p.Green("✓"), textx.Count(len(r.Packs), "pack"))
	} else {
		fmt.Fprintf(a.Stdout, "%s Already up to date: %s, %s\n", p.Green("✓"),
			textx.Count(len(r.Packs), "pack"), where)
	}
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
			line += " (newest: " + p.Latest + ")"
		}
		if note := outdatedNote(p); note != "" {
			line += ": " + note
		}
		fmt.Fprintf(a.Stdout, "  %s %s\n", p.Pack, console.Printable(line))
	}
	if n > maxHeldBack {
		fmt.Fprintf(a.Stdout, "  and %d more; list all with: skillpm outdated\n", n-maxHeldBack)
	}
}
