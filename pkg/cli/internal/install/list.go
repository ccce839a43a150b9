package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newList(a *app) *cobra.Command {
	var scope string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List installed packs and their skills",
		Long: `The list shows the packs in skillpm.lock with their skills and sources. Marks show skills
that are locally edited, denied by a policy, not approved, or not installed (for example in
a fresh clone). --json adds the reasons. To compare every byte, run "skillpm verify".`,
		Example: `  skillpm list
  skillpm list --scope user
  skillpm list --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.List(cmd.Context(), scope)
			if diag.CodeOf(err) == diag.NotFound { // a project without a manifest may have local skills
				return diag.Errorf(diag.NotFound, "%w", err).
					WithHint("install a pack with: skillpm install OWNER/NAME; list local skills with: skillpm skills")
			}
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			if len(r.Packs) == 0 {
				a.Note("No packs installed. Add one with: skillpm install OWNER/NAME")
				return nil
			}
			rows := [][]string{{"PACK", "VERSION", "SKILLS", "SOURCE"}}
			skills := 0
			signed := slices.ContainsFunc(r.Packs, func(p skillpm.PackReport) bool { return p.SignedBy != "" })
			if signed {
				rows[0] = append(rows[0], "SIGNED BY")
			}
			for _, p := range r.Packs {
				skills += len(p.Skills)
				source := markedSource(p)
				switch {
				case p.Linked != "":
					source = "linked to " + p.Linked
				case !p.Direct && p.Demo:
					source = sourceOf(p) + " (demo, dependency)"
				case !p.Direct:
					source += " (dependency)"
				}
				if !p.Installed {
					source += " (not installed; run \"skillpm install\")"
				}
				for _, ref := range p.Advisories {
					source += " (" + advisoryKind(ref) + ": " + ref.ID + ")"
				}
				row := []string{p.Pack, p.Version, a.listedSkills(p), source}
				if signed {
					row = append(row, shortSigner(p.SignedBy))
				}
				rows = append(rows, row)
			}
			if err := a.Paged(func() error { return console.Table(a.Stdout, rows) }); err != nil {
				return err
			}
			a.Note("%s with %s.", textx.Count(len(r.Packs), "pack"), textx.Count(skills, "skill"))
			return nil
		},
	}
	scopeFlag(cmd, &scope)
	return cmd
}

// maxNames is how many skills of a pack are named without --verbose.
const maxNames = 5

// someNames joins names; without --verbose only the first ones.
func (a *app) someNames(names []string) string {
	if a.Verbose > 0 || len(names) <= maxNames+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}

// listedSkills names the skills of a pack: without --verbose only the first ones, but all that have a mark.
func (a *app) listedSkills(p skillpm.PackReport) string {
	var names, marked []string
	for i, s := range p.Skills {
		name := markedSkill(p, s)
		if i >= maxNames && name != s.Name && a.Verbose == 0 && len(p.Skills) > maxNames+1 {
			marked = append(marked, name)
			continue
		}
		names = append(names, name)
	}
	return strings.Join(append(marked, a.someNames(names)), ", ")
}

// markedSkill returns the name of a skill with marks: its alias, and why it is not available as locked.
func markedSkill(p skillpm.PackReport, s skillpm.SkillReport) string {
	name := s.Name
	if s.Link != s.Name {
		name += " (as " + s.Link + ")"
	}
	switch {
	case s.Unapproved:
		name += " (not approved)"
	case s.Denied != "":
		name += " (denied)"
	}
	switch {
	case s.Edited:
		name += " (edited)"
	case !s.Installed && anyInstalled(p):
		name += " (not installed)"
	}
	return name
}

// shortSigner returns the start of a key's fingerprint, or an identity unchanged.
func shortSigner(fingerprint string) string {
	const digits = 12
	if kind, rest, ok := strings.Cut(fingerprint, ":"); ok && strings.EqualFold(kind, "sha256") && len(rest) > digits {
		return kind + ":" + rest[:digits] + "…"
	}
	return fingerprint
}

// anyInstalled reports whether any skill of a pack is installed.
func anyInstalled(p skillpm.PackReport) bool {
	return slices.ContainsFunc(p.Skills, func(s skillpm.SkillReport) bool { return s.Installed })
}

func newInfo(a *app) *cobra.Command {
	var scope, registry string
	var signatures bool
	var keys []string
	cmd := &cobra.Command{
		Use:     "info PACK|SKILL",
		Aliases: []string{"show"},
		Short:   "Show details of a pack or skill",
		Long: `PACK is the owner/name of an installed or available pack. With a version or range, the
output shows the newest available version in the range. SKILL is an installed skill: NAME
or skill@owner/name.

--signatures lists the signatures, provenance, SBOM, and test results of a published pack. With
--signatures, PACK is owner/name[@VERSION], oci://REGISTRY/REPOSITORY,
oci-layout:DIR//owner/name, or a git repository with signed tags. skillpm verifies each
signature with the public keys in --key and in trusted-keys of the user's settings. Without
keys, the output shows the signer that a signature claims, but skillpm cannot verify the
claim. With --key, exit code 7 means that none of the keys in --key signed the pack.`,
		Example: `  skillpm info acme/deploy
  skillpm info acme/deploy@1.3.0
  skillpm info deploy@acme/deploy
  skillpm info acme/deploy@1.4.0 --signatures --key acme.pub
  skillpm info oci://registry.example/acme/deploy:1.4.0 --signatures`,
		Args: console.Need(1, 1, "one PACK or SKILL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			signed := signatures || len(keys) > 0
			if ref, err := pack.Parse(args[0]); signed && err == nil && ref.Kind != pack.KindName {
				return a.signatures(cmd.Context(), args[0], keys)
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			info, err := c.Info(cmd.Context(), args[0], scope, registry)
			if err != nil {
				return err
			}
			if signed && info.Pack != nil {
				return a.signatures(cmd.Context(), info.Pack.Pack+"@"+info.Pack.Version, keys)
			}
			if signed {
				return a.signatures(cmd.Context(), info.Skill.Pack+"@"+info.Skill.Version, keys)
			}
			switch {
			case a.JSON:
				return a.PrintJSON(info)
			case info.Skill != nil:
				return a.printSkill(info)
			}
			return a.printPackInfo(info.Pack)
		},
		ValidArgsFunction: a.CompletePacksAndSkills,
	}
	f := cmd.Flags()
	f.StringVar(&registry, "registry", "", "look names up only in the registry `REGISTRY`")
	f.BoolVar(&signatures, "signatures", false, "show signatures, provenance, SBOM, and test results")
	f.StringArrayVar(&keys, "key", nil, "verify with the public key or the git allowed signers in `FILE` (repeatable)")
	scopeFlag(cmd, &scope)
	return cmd
}

// field prints one line of a description, unless the value is empty.
func (a *app) field(name, value string) {
	if value != "" {
		fmt.Fprintf(a.Stdout, "%-13s %s\n", name+":", console.Printable(value))
	}
}
