package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newOutdated(a *app) *cobra.Command {
	var o skillpm.OutdatedOptions
	var check bool
	cmd := &cobra.Command{
		Use:   "outdated [PACK...]",
		Short: "List packs with newer versions",
		Long: `Each row shows the locked version of a pack, the version that "skillpm update" would select,
the newest version, and the packs that require the pack. Notes show advisories and what fixes
them, why a pack is held back, and which packs are yanked, deprecated, or moved. For a branch,
they show the commits.

If the content of a locked version changed at its source, for example because its tag was
moved, the exit code is 6. If a registry or source is unreachable, skillpm lists its packs
with a warning, and the exit code is 8.

Notes also show the capabilities that an update adds. For this, the command downloads the new
versions of installed packs once, unless --offline is set. It does not use statements of
publishers. It changes nothing.`,
		Example: `  skillpm outdated
  skillpm outdated acme/deploy --json
  skillpm outdated --check  # in CI: exit 3 if a pack is outdated`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.Packs = args
			r, err := c.Outdated(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := a.printOutdated(r); err != nil {
				return err
			}
			if err := r.Err(); err != nil && a.JSON {
				return console.Reported{Exit: diag.Integrity}
			} else if err != nil {
				return err
			}
			if isUnreachable(r) {
				return console.Reported{Exit: diag.Remote}
			}
			if check && len(r.Packs) > 0 {
				return console.Reported{Exit: diag.Invalid}
			}
			return nil
		},
		ValidArgsFunction: a.CompleteInstalledPacks,
	}
	f := cmd.Flags()
	f.BoolVar(&check, "check", false, "exit 3 if a pack is outdated")
	f.StringVar(&o.Registry, "registry", "",
		"look names up only in the registry `REGISTRY`")
	f.BoolVar(&o.Offline, "offline", false, "do not use the network")
	scopeFlag(cmd, &o.Scope)
	return cmd
}

// printOutdated prints a table of outdated packs.
func (a *app) printOutdated(r *skillpm.OutdatedReport) error {
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	for _, p := range r.Packs {
		if p.Unreachable != "" {
			a.Warn("%s: %s", p.Pack, p.Unreachable)
		}
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	if len(r.Packs) == 0 {
		if !a.Quiet {
			fmt.Fprintf(a.Stdout, "%s %s up to date\n", a.Palette(a.Stdout).Green("✓"),
				textx.Count(r.Checked, "pack"))
		}
		return nil
	}
	rows := [][]string{{"PACK", "CURRENT", "WANTED", "LATEST", "REQUIRED BY", "NOTE"}}
	movable := 0
	for _, p := range r.Packs {
		compatible := p.Wanted
		if compatible == "" {
			compatible = "-"
		} else if compatible != p.Current || p.Revision != "" {
			movable++
		}
		latest := p.Latest
		if p.Unreachable != "" {
			compatible, latest = "?", "?"
		}
		rows = append(rows, []string{p.Pack, p.Current, compatible, latest, requirers(p.RequiredBy), outdatedNote(p)})
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	if movable > 0 {
		a.Note("Show the changes with \"skillpm diff\", and update %s with \"skillpm update\".",
			textx.Count(movable, "pack"))
	}
	return nil
}

// isUnreachable reports whether a pack's registry was unreachable.
func isUnreachable(r *skillpm.OutdatedReport) bool {
	return slices.ContainsFunc(r.Packs, func(p skillpm.OutdatedPack) bool { return p.Unreachable != "" })
}

// requirers returns a short list of the packs that require a pack.
func requirers(list []skillpm.Requirer) string {
	var texts []string
	for _, r := range list {
		texts = append(texts, strings.TrimSpace(r.By+" "+r.Range))
	}
	const most = 3
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}

// outdatedNote explains why a pack stays at its version.
func outdatedNote(p skillpm.OutdatedPack) string {
	notes := advisoryNotes(p)
	if text := denial(p.PackDenial, p.Skills); text != "" {
		notes = append(notes, text)
	}
	if p.Deprecated != "" {
		notes = append(notes, "deprecated: "+p.Deprecated)
	}
	if p.Yanked != "" {
		notes = append(notes, p.Current+" was yanked: "+p.Yanked)
	}
	if p.Wanted == "" {
		notes = append(notes, "no longer required")
	}
	if len(p.HeldBy) > 0 {
		notes = append(notes, "held back by "+requirers(p.HeldBy))
	}
	if p.Withheld != "" && p.Wanted != p.Latest {
		notes = append(notes, p.Latest+" "+p.Withheld)
	}
	if p.Unreachable != "" {
		notes = append(notes, "source unreachable")
	}
	if p.Edited {
		notes = append(notes, "locally edited")
	}
	if p.Revision != "" {
		notes = append(notes, fmt.Sprintf("%s moved from %s to %s", p.Revision, shortDigest(p.Resolved),
			shortDigest(p.WantedResolved)))
	}
	if len(p.Capabilities) > 0 {
		notes = append(notes, p.Wanted+" adds capabilities: "+console.CapabilityNames(p.Capabilities))
	}
	if p.Changed != nil {
		notes = append(notes, "content of "+p.Current+" changed")
	}
	if p.Moved != "" {
		notes = append(notes, "moved from "+p.Source+" to "+p.Moved)
	}
	return strings.Join(notes, "; ")
}

// advisoryNotes describes the advisories about the current version, and whether the wanted one is fixed.
func advisoryNotes(p skillpm.OutdatedPack) (notes []string) {
	for _, ref := range p.Advisories {
		note := advisoryKind(ref) + ": " + ref.ID
		switch {
		case slices.Contains(p.Fixes, ref.ID):
			note += ", fixed in " + p.Wanted
		case ref.Fixed != "":
			note += ", fixed in " + ref.Fixed + ", which an update does not select"
		default:
			note += ", not fixed"
		}
		notes = append(notes, note)
	}
	for _, ref := range p.WantedAdvisories {
		if ref.Malicious {
			notes = append(notes, p.Wanted+" is malicious: "+ref.ID)
		}
	}
	return notes
}

// shortDigest shortens a commit, or a digest with its algorithm.
func shortDigest(digest string) string {
	algorithm, sum, ok := strings.Cut(digest, ":")
	if !ok {
		algorithm, sum = "", digest
	}
	if len(sum) > 12 {
		sum = sum[:12]
	}
	return strings.TrimPrefix(algorithm+":"+sum, ":")
}
