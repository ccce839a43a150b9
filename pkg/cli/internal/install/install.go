package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newInstall(a *app) *cobra.Command {
	var o skillpm.InstallOptions
	cmd := &cobra.Command{
		Use:     "install [PACK...]",
		Aliases: []string{"add", "i"},
		Short:   "Install packs and link their skills for agents",
		Long: `The installer copies packs and their dependencies to .skillpm/plugins, links their skills
for the detected agents, and records the packs in skillpm.yaml and skillpm.lock. Without
PACK, it installs the packs in these two files.

PACK is one of:
  owner/name[@RANGE]                            by name, from the registries
  oci://REGISTRY/REPOSITORY[:TAG|@sha256:...]   from an OCI registry
  oci-layout:DIR//owner/name[:TAG]              from an OCI layout directory
  github.com/OWNER/REPO, git@HOST:PATH,
  https://HOST/PATH.git, git+https://URL,
  git+ssh://URL, each [//SUBDIR][#REF]          from a git repository
  https://HOST[/PATH]                           from a website with skills
  ./DIR                                         from a directory

If skillpm.lock has merge conflicts, --resolve-lock selects the versions anew for the merged
skillpm.yaml, and prefers the versions that the two branches have locked.

If several packs contain a skill with the same name, the skill of the pack that is last in
skillpm.yaml gets the name, and the other skills get aliases. --as sets the alias of a
skill.

For each new skill, the installer shows what it can do, such as the hosts that its scripts
reach. It does not run anything in a pack, and never replaces files that skillpm did not
create. Before it replaces a locally edited skill, it stops and shows the edit. --keep keeps
the pack of the skill; --force replaces the skill and keeps a copy in .skillpm/backup.

A name that is locked comes from its locked source. "skillpm install PACK --registry R" moves
the pack to R, in its locked version if R has it.

Published versions do not change. If the content of a locked version differs at its source,
the command fails with exit code 6. --accept-changed accepts the new content; ask the
publisher first.

skillpm checks packs against the policies of the machine, the user, and the project. With
--require-signature, every pack needs a signature by a key in --key or trusted-keys, or by
a signer that a policy trusts. skillpm.lock records the signer, and later versions must
have the same signer.`,
		Example: `  skillpm install acme/deploy
  skillpm install 'acme/deploy@^1.3'
  skillpm install --frozen  # in CI: exactly what is locked
  skillpm install --upgrade  # newest versions within the ranges
  skillpm install globex/ops --skill deploy --as ops-deploy
  skillpm install github.com/owner/skills//tools#v1.2.0 --skill lint
  skillpm install oci://registry.example/acme/deploy:1.4.0
  skillpm install acme/deploy --require-signature --key acme.pub`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if err := a.askResolveLock(c, &o); err != nil {
					return err
				}
				if args, err = a.pickPacks(cmd.Context(), c, o); err != nil {
					return err
				}
			}
			o.Packs, o.Accept = args, a.AcceptIncreases
			note := a.NewProjectNote(o.Scope)
			r, err := c.Install(cmd.Context(), o)
			if err != nil {
				return err
			}
			a.NoteUnlessEmpty(note)
			if err := a.printInstall(r, "install"); err != nil || a.JSON || a.Quiet {
				return err
			}
			a.printPart(r, o)
			return nil
		},
		ValidArgsFunction: a.CompletePacks,
	}
	f := cmd.Flags()
	f.StringVar(&o.Registry, "registry", "",
		"look names up only in the registry `REGISTRY`")
	f.BoolVar(&o.Frozen, "frozen", false,
		"install exactly what skillpm.lock records, or fail if skillpm.lock is out of date")
	a.acceptChangedFlag(cmd, &o.ChangeOptions)
	f.BoolVar(&o.ResolveLock, "resolve-lock", false,
		"resolve merge conflicts in skillpm.lock, and prefer the versions of both branches")
	f.BoolVar(&o.Upgrade, "upgrade", false, "select the newest versions within the ranges, like update")
	f.BoolVar(&o.Offline, "offline", false, "do not use the network")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would change, without changing it")
	editFlags(cmd, &o.Keep, &o.Force)
	f.StringSliceVar(&o.Skills, "skill", nil,
		"install only the skill `NAME` of the pack (repeatable; '*' selects all skills)")
	f.StringVar(&o.As, "as", "", "install the skill under the alias `NAME`")
	f.StringSliceVar(&o.Agents, "agent", nil,
		"link skills for the agent `ID` (or all, or detected), and record the choice (repeatable)")
	f.StringVar(&o.LinkMode, "link-mode", "",
		"set the link `MODE`: symlink, copy, or hardlink (shares files with the store)")
	// cannot fail: the flag exists
	_ = cmd.RegisterFlagCompletionFunc("link-mode", cobra.FixedCompletions([]string{"symlink", "copy", "hardlink"},
		cobra.ShellCompDirectiveNoFileComp))
	scopeFlag(cmd, &o.Scope)
	a.CompleteFlag(cmd, "agent", a.CompleteAgents)
	a.SigningFlags(cmd, &o.Signing)
	console.MarkRare(cmd, "registry", "offline", "resolve-lock", "keep", "link-mode", "require-signature", "key",
		"accept-signer", "accept-changed")
	return cmd
}

// editFlags adds --keep and --force.
func editFlags(cmd *cobra.Command, keep, force *bool) {
	cmd.Flags().BoolVar(keep, "keep", false, "keep locally edited skills, and do not change their packs")
	cmd.Flags().BoolVar(force, "force", false,
		"replace locally edited skills, and keep copies in .skillpm/backup")
}

// acceptChangedFlag adds --accept-changed.
func (a *app) acceptChangedFlag(cmd *cobra.Command, o *skillpm.ChangeOptions) {
	cmd.Flags().StringSliceVar(&o.AcceptChanged, "accept-changed", nil,
		"accept changed content of the locked version of `PACK` (repeatable)")
	a.CompleteFlag(cmd, "accept-changed", a.CompleteLocked)
}

// scopeFlag adds --scope.
func scopeFlag(cmd *cobra.Command, scope *string) {
	cmd.Flags().StringVar(scope, "scope", "project", "use the packs of `SCOPE`: project or user")
	// cannot fail: the flag exists
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{"project", "user"},
		cobra.ShellCompDirectiveNoFileComp))
}

// printInstall prints what an installation or removal changed, where agents find the skills, and what to do next.
func (a *app) printInstall(r *skillpm.InstallReport, verb string) error {
	listed := r.Changed && !a.JSON && !a.Quiet
	if !listed {
		a.warnInstall(r)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	if a.Quiet {
		return nil
	}
	p := a.Palette(a.Stdout)
	if len(r.Packs) == 0 && !r.Changed {
		a.Note("No packs installed. Add one with: skillpm install OWNER/NAME")
		return nil
	}
	if !r.Changed && len(r.Edited) > 0 {
		fmt.Fprintf(a.Stdout, "%s Already up to date: %s; %s\n", p.Green("✓"),
			textx.Count(len(r.Packs), "pack"), console.RemainingText(len(r.Edited)))
		return nil
	}
	if !r.Changed {
		fmt.Fprintf(a.Stdout, "%s Already up to date: %s\n", p.Green("✓"),
			textx.Count(len(r.Packs), "pack"))
		return nil
	}
	if r.ResolvedLock && !r.DryRun {
		a.Note("Resolved the merge conflicts in skillpm.lock. Mark the file as resolved with: git add skillpm.lock")
	}
	for _, line := range console.IncreaseLines(r.Increases) {
		fmt.Fprintln(a.Stdout, p.Yellow(line))
	}
	for _, pack := range r.Packs {
		a.printPack(p, pack, r)
	}
	a.printNewOwners(r)
	if verb != "remove" {
		a.printAgents(p, r)
	}
	a.PrintSaved(p, r)
	a.warnInstall(r) // after the list, which may be long
	a.printHeldBack(r)
	a.printNext(p, r, verb)
	return nil
}

// warnInstall prints the warnings of an installation.
func (a *app) warnInstall(r *skillpm.InstallReport) {
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	a.noteMissing("skillpm.yaml", r.Missing)
	for _, p := range r.Packs {
		a.noteMissing(p.Pack, p.Missing)
		for _, s := range p.Skills {
			if s.Denied != "" {
				a.Note("Left out %s@%s: %s", s.Name, p.Pack, s.Denied)
			}
			a.noteMissing(s.Name+"@"+p.Pack, s.Missing)
		}
	}
	for _, c := range r.Conflicts {
		if r.Changed && (r.NamesChanged || isNew(c, r.Packs)) {
			a.Warn("%s", c)
			a.Hint(c.Hint())
		}
	}
}

// noteMissing prints what is required and missing, and how to get it.
func (a *app) noteMissing(subject string, missing []skill.Missing) {
	if names, hints := skill.DescribeMissing(missing); names != "" {
		a.Note("%s requires %s: %s", subject, names, hints)
	}
}

// isNew reports whether a conflict is about a newly installed skill.
func isNew(c skillpm.NameConflict, packs []skillpm.PackReport) bool {
	return slices.ContainsFunc(packs, func(p skillpm.PackReport) bool {
		_, loses := c.Others[p.Pack]
		return (loses || c.Winner == p.Pack) && slices.Contains(
			[]string{skillpm.ActionInstalled, skillpm.ActionRestored, skillpm.ActionLinked}, p.Action)
	})
}

// sourceOf returns the source of a pack: the local path, if known.
func sourceOf(p skillpm.PackReport) string { return cmp.Or(p.Directory, p.Source) }

// markedSource is sourceOf with the mark of demo packs.
func markedSource(p skillpm.PackReport) string { return demoMark(sourceOf(p), p.Demo) }

// demoMark marks the source of a demo pack.
func demoMark(source string, isDemo bool) string {
	if isDemo {
		return source + " (demo)"
	}
	return source
}

// printPart prints how to install all skills of packs that were requested by name and are installed in part.
func (a *app) printPart(r *skillpm.InstallReport, o skillpm.InstallOptions) {
	for _, p := range r.Packs {
		named := slices.ContainsFunc(o.Packs, func(text string) bool {
			name, _,
				_ := strings.Cut(text, "@")
			return name == p.Pack
		})
		if named && p.Partial && p.Action != skillpm.ActionInstalled && len(o.Skills) == 0 {
			a.Note("Installed only %s of %s. Install all skills with: skillpm install %s --skill '*'",
				textx.Count(len(p.Skills), "skill"), p.Pack, p.Pack)
		}
	}
}

// printPack prints a changed pack and its skills.
func (a *app) printPack(p console.Palette, pack skillpm.PackReport, r *skillpm.InstallReport) {
	if pack.Action == skillpm.ActionUnchanged && pack.Range == "" && !pack.SignerChanged {
		return
	}
	signs := map[string]string{
		skillpm.ActionInstalled: p.Green("+"), skillpm.ActionUpdated: p.Yellow("~"),
		skillpm.ActionRemoved: p.Red("-"), skillpm.ActionRenamed: p.Yellow("="), skillpm.ActionRestored: p.Green("+"),
		skillpm.ActionMoved: p.Yellow("~"), skillpm.ActionLinked: p.Green("→"), skillpm.ActionUnchanged: p.Dim("="),
	}
	line := strings.TrimSpace(fmt.Sprintf("%s %s %s", signs[pack.Action], p.Bold(pack.Pack), pack.Version))
	if pack.Previous != "" && pack.Previous != pack.Version {
		was := " (was " + pack.Previous
		if pack.Downgrade {
			was += ", a downgrade"
		}
		line += p.Dim(was + ")")
	}
	if pack.Linked != "" {
		line += p.Dim("  linked to " + pack.Linked)
	} else {
		line += p.Dim("  from " + markedSource(pack))
		if pack.PreviousSource != "" {
			line += p.Dim(" (was from " + pack.PreviousSource + ")")
		}
	}
	if pack.Action == skillpm.ActionRestored {
		line += p.Dim("  locked version")
	}
	if pack.SignedBy != "" {
		line += p.Dim("  signed by " + pack.SignedBy)
	}
	if n := linkedSkills(pack); n > 0 && a.Verbose == 0 {
		line += p.Dim("  " + textx.Count(n, "skill"))
	}
	if pack.Action == skillpm.ActionInstalled && !pack.Direct {
		line += p.Dim("  as a dependency")
	}
	fmt.Fprintln(a.Stdout, line)
	for _, s := range pack.Skills {
		name := shownName(p, s)
		if slices.Contains(pack.Added, s.Name) {
			name = p.Green("+ " + name)
		} else if a.Verbose == 0 && s.Link == s.Name && s.PreviousLink == "" {
			continue
		}
		fmt.Fprintf(a.Stdout, "    %s  %s\n", name, p.Dim(console.Home(r)+s.Dir))
	}
	a.printCapabilities(p, pack)
	if pack.Range != "" {
		fmt.Fprintf(a.Stdout, "    %s\n", p.Dim("skillpm.yaml: "+pack.PreviousRange+" → "+pack.Range))
	}
	for _, name := range pack.Dropped {
		fmt.Fprintf(a.Stdout, "    %s\n", p.Red("- "+name))
	}
}

// maxSummaries is the number of skills of a pack whose capabilities are printed.
const maxSummaries = 10

// printCapabilities prints what the skills of a new pack can do. Those that an update adds to a pack are at the top.
func (a *app) printCapabilities(p console.Palette, pack skillpm.PackReport) {
	var lines []string
	for _, s := range pack.Skills {
		if s.Capabilities != nil && s.Capabilities.Summary != "" && !slices.Contains(pack.Added, s.Name) {
			lines = append(lines, s.Name+": "+s.Capabilities.Summary)
		}
	}
	for i, line := range lines {
		if i == maxSummaries && len(lines) > maxSummaries+1 && a.Verbose == 0 {
			fmt.Fprintf(a.Stdout, "    %s\n", p.Dim(fmt.Sprintf("and %d more; show all with -v", len(lines)-i)))
			break
		}
		fmt.Fprintf(a.Stdout, "    %s\n", console.Printable(line))
	}
}

// linkedSkills counts the skills of a pack without those that a policy denies.
func linkedSkills(p skillpm.PackReport) (n int) {
	for _, s := range p.Skills {
		if s.Denied == "" {
			n++
		}
	}
	return n
}

// printAgents prints which agents find the skills, and where.
func (a *app) printAgents(p console.Palette, r *skillpm.InstallReport) {
	if !slices.ContainsFunc(r.Packs, func(pack skillpm.PackReport) bool { return len(pack.Skills) > 0 }) {
		return
	}
	linked := "linked in"
	if r.DryRun {
		linked = "would be linked in"
	}
	for _, d := range r.Agents {
		who := ""
		if len(d.Agents) > 0 {
			who = " for " + strings.Join(d.Agents, ", ")
		}
		fmt.Fprintf(a.Stdout, "  %s %s%s\n", linked, p.Cyan(console.Home(r)+d.Dir), who)
	}
}

// printNext prints what to do next.
func (a *app) printNext(p console.Palette, r *skillpm.InstallReport, verb string) {
	files, commit := strings.Join(r.RecordedIn, " and "), "commit it"
	if len(r.RecordedIn) > 1 {
		commit = "commit both"
	}
	switch {
	case r.DryRun && r.Recorded:
		fmt.Fprintf(a.Stdout, "Dry run: %s would change.\n", files)
	case r.DryRun:
		fmt.Fprintln(a.Stdout, "Dry run: nothing was written.")
	default:
		fmt.Fprintf(a.Stdout, "%s %s\n", p.Green("✓"), summary(r, verb))
	}
	if !r.DryRun && verb == "install" && r.Scope == "project" && r.Recorded {
		fmt.Fprintf(a.Stdout, "  %s\n", p.Dim("Recorded in "+files+": "+commit+"."))
	}
}

// summary counts what changed.
func summary(r *skillpm.InstallReport, verb string) string {
	counts, skills := map[string]int{}, 0
	for _, pack := range r.Packs {
		counts[pack.Action]++
		if pack.Action == skillpm.ActionInstalled || pack.Action == skillpm.ActionRestored {
			skills += linkedSkills(pack)
		}
	}
	var parts []string
	if n := counts[skillpm.ActionInstalled] + counts[skillpm.ActionRestored]; n > 0 {
		parts = append(parts, "Installed "+textx.Count(n, "pack")+" with "+textx.Count(skills, "skill"))
	}
	for _, x := range []struct{ action, verb string }{
		{skillpm.ActionUpdated, "updated "},
		{skillpm.ActionMoved, "moved "},
		{skillpm.ActionLinked, "linked "},
		{skillpm.ActionRemoved, "removed "},
	} {
		if n := counts[x.action]; n > 0 {
			parts = append(parts, x.verb+textx.Count(n, "pack"))
		}
	}
	if n := countRenamed(r.Packs); n > 0 {
		parts = append(parts, "renamed "+textx.Count(n, "skill"))
	}
	if len(parts) == 0 && len(r.RecordedIn) > 0 {
		return "Updated " + strings.Join(r.RecordedIn, " and ")
	}
	if len(parts) == 0 {
		return "Done"
	}
	text := strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:]
}
