package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newInstall(a *app) *cobra.Command {
	var o skillpm.InstallOptions
	cmd := &cobra.Command{
		Use:     "install [PACK...]",
		Aliases: []string{"add", "i"},
		Short:   "Install packs and link their skills for agents",
		GroupID: "use",
		Long: `Install packs of skills, with what they depend on, into .skillpm/plugins, link
them for the agents in use, and record them in skillpm.yaml and skillpm.lock.
Without PACK it installs what those two files say.

A PACK is one of
  owner/name[@RANGE]                        by name, from the configured registries
  oci://HOST/REPOSITORY[:TAG|@sha256:...]   from an OCI registry
  oci-layout:DIR//owner/name[:TAG]          from an OCI layout directory
  github.com/OWNER/REPO, git@HOST:PATH,
  https://HOST/PATH.git, git+https://URL,
  git+ssh://URL, each [//SUBDIR][#REF]      from a git repository
  ./DIR                                     from a directory

Nothing from a pack is run. Files that skillpm did not write are never replaced.
An installed skill that was edited stays as it is, with a warning. Where it
would have to be replaced the install stops and shows the edit: --keep leaves
its pack as it is, --force replaces it and keeps a copy in .skillpm/backup.

What comes into force is held against the policies of the machine, the user and
the project. With --require-signature every pack must be signed by one of the
keys in --key and in trusted-keys of the settings, or by somebody whom a policy
trusts. Who signed is recorded in skillpm.lock, and what comes after it must be
signed by the same.`,
		Example: `  skillpm install acme/deploy
  skillpm install 'acme/deploy@^1.3'
  skillpm install github.com/owner/skills//tools#v1.2.0 --skill lint
  skillpm install oci://registry.example/acme/deploy:1.4.0
  skillpm install globex/ops --skill deploy --as ops-deploy
  skillpm install acme/deploy --require-signature --key acme.pub
  skillpm install --upgrade                 choose all versions anew, within the ranges
  skillpm install --frozen                  in CI: exactly what skillpm.lock says`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.Packs = args
			r, err := c.Install(cmd.Context(), o)
			if err != nil {
				return err
			}
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
		"look names up in registry `R` only: an index, an OCI prefix or an OCI layout")
	f.BoolVar(&o.Frozen, "frozen", false,
		"install what skillpm.lock says; fail if it and skillpm.yaml disagree or anything differs")
	f.BoolVar(&o.Frozen, "locked", false, "another name of --frozen")
	f.BoolVar(&o.Upgrade, "upgrade", false, "choose all versions anew, within the ranges, as update does")
	f.BoolVar(&o.Offline, "offline", false, "use no network")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and do nothing")
	editFlags(cmd, &o.Keep, &o.Force)
	f.StringSliceVar(&o.Skills, "skill", nil,
		"install only the skill `NAME` of the pack (may be repeated; '*' for all again)")
	f.StringVar(&o.As, "as", "", "give the skill the name `NAME` here")
	f.StringSliceVar(&o.Agents, "agent", nil,
		"link for the agent `ID` from now on (may be repeated; all, or detected for those in use)")
	f.StringVar(&o.LinkMode, "link-mode", "",
		"from now on give agents links or copies: `symlink|copy|hardlink`; hardlink shares files with the store")
	// cannot fail: the flag exists
	_ = cmd.RegisterFlagCompletionFunc("link-mode", cobra.FixedCompletions([]string{"symlink", "copy", "hardlink"},
		cobra.ShellCompDirectiveNoFileComp))
	scopeFlag(cmd, &o.Scope)
	a.CompleteFlag(cmd, "agent", a.CompleteAgents)
	a.SigningFlags(cmd, &o.Signing)
	return cmd
}

// editFlags adds --keep and --force.
func editFlags(cmd *cobra.Command, keep, force *bool) {
	cmd.Flags().BoolVar(keep, "keep", false, "leave packs as they are that have edited skills which would be replaced")
	cmd.Flags().BoolVar(force, "force", false,
		"replace installed skills that were edited; copies are kept in .skillpm/backup")
}

// scopeFlag adds --scope.
func scopeFlag(cmd *cobra.Command, scope *string) {
	cmd.Flags().StringVar(scope, "scope", "project", "work on this `project|user`")
	// cannot fail: the flag exists
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{"project", "user"},
		cobra.ShellCompDirectiveNoFileComp))
}

// printInstall prints what an installation or removal changed, where agents find the skills, and what to do next.
func (a *app) printInstall(r *skillpm.InstallReport, verb string) error {
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	for _, c := range r.Conflicts {
		if r.Changed && (r.NamesChanged || isNew(c, r.Packs)) {
			a.Warn("%s", c)
		}
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	if a.Quiet {
		return nil
	}
	p := a.Palette(a.Stdout)
	if len(r.Packs) == 0 && !r.Changed {
		a.Note("no packs are required; skillpm install owner/name adds one")
		return nil
	}
	if !r.Changed && len(r.Edited) > 0 {
		fmt.Fprintf(a.Stdout, "%s nothing to do: %s installed; %s\n", p.Green("✓"),
			textx.Count(len(r.Packs), "pack"), console.RemainingText(len(r.Edited)))
		return nil
	}
	if !r.Changed {
		fmt.Fprintf(a.Stdout, "%s nothing to do: %s installed and as locked\n", p.Green("✓"),
			textx.Count(len(r.Packs), "pack"))
		return nil
	}
	for _, pack := range r.Packs {
		a.printPack(p, pack, r)
	}
	a.printAgents(p, r)
	a.PrintSaved(p, r)
	a.printNext(p, r, verb)
	return nil
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

// printPart prints how to install all skills of packs that were requested by name and are installed in part.
func (a *app) printPart(r *skillpm.InstallReport, o skillpm.InstallOptions) {
	for _, p := range r.Packs {
		named := slices.ContainsFunc(o.Packs, func(text string) bool {
			name, _,
				_ := strings.Cut(text, "@")
			return name == p.Pack
		})
		if named && p.Partial && p.Action != skillpm.ActionInstalled && len(o.Skills) == 0 {
			a.Note("only some skills of %s are installed, %d; skillpm install %s --skill '*' installs all", p.Pack,
				len(p.Skills), p.Pack)
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
		skillpm.ActionLinked: p.Green("→"), skillpm.ActionUnchanged: p.Dim("="),
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
		line += p.Dim("  from " + sourceOf(pack))
	}
	if pack.Action == skillpm.ActionRestored {
		line += p.Dim("  as locked")
	}
	if pack.SignedBy != "" {
		line += p.Dim("  signed by " + console.Printable(pack.SignedBy))
	}
	if pack.Action == skillpm.ActionInstalled && !pack.Direct {
		line += p.Dim("  as a dependency")
	}
	fmt.Fprintln(a.Stdout, line)
	for _, s := range pack.Skills {
		name := s.Name
		if s.Link != s.Name {
			name += " " + p.Yellow("as "+s.Link)
		}
		if slices.Contains(pack.Added, s.Name) {
			name = p.Green("+ " + name)
		}
		fmt.Fprintf(a.Stdout, "    %s  %s\n", name, p.Dim(console.Home(r)+s.Dir))
	}
	if pack.Range != "" {
		fmt.Fprintf(a.Stdout, "    %s\n", p.Dim("skillpm.yaml: "+pack.PreviousRange+" → "+pack.Range))
	}
	for _, name := range pack.Dropped {
		fmt.Fprintf(a.Stdout, "    %s\n", p.Red("- "+name))
	}
}

// printAgents prints which agents find the skills, and where.
func (a *app) printAgents(p console.Palette, r *skillpm.InstallReport) {
	if !slices.ContainsFunc(r.Packs, func(pack skillpm.PackReport) bool { return len(pack.Skills) > 0 }) {
		return
	}
	for _, d := range r.Agents {
		who := ""
		if len(d.Agents) > 0 {
			who = " for " + strings.Join(d.Agents, ", ")
		}
		fmt.Fprintf(a.Stdout, "  linked in %s%s\n", p.Cyan(console.Home(r)+d.Dir), who)
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
		fmt.Fprintf(a.Stdout, "%s would change. Nothing was written: this was a dry run.\n", files)
	case r.DryRun:
		fmt.Fprintln(a.Stdout, "Nothing was written: this was a dry run.")
	case verb == "install" && r.Scope == "project" && r.Recorded:
		fmt.Fprintf(a.Stdout, "Recorded in %s: %s. %s\n", files, commit,
			p.Dim("skillpm list shows what is installed, skillpm verify checks it."))
	}
}
