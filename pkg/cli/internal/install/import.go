package install

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newImport(a *app) *cobra.Command {
	var o skillpm.ImportOptions
	cmd := &cobra.Command{
		Use:   "import [FILE]",
		Short: "Import skills from another tool, or manage local skills",
		Long: `The command reads the file in which another tool lists its skills, adds the skills to
skillpm.yaml, and installs them. FILE is one of these files, or a directory that contains
one of them:

  skills-lock.json                   of npm's skills (and .skill-lock.json)
  apm.yml, apm.lock.yaml             of microsoft/apm
  agents.lock, agents.toml           of dotagents
  toolhive.lock.yaml                 of ToolHive
  .claude-plugin/marketplace.json    of Claude Code and compatible agents

skillpm keeps FILE and the skills that the other tool installed. To avoid duplicate skills,
remove these skills with the other tool. If skillpm cannot import a skill in FILE, a warning
shows the reason.

Without FILE, and without such a file in the project, the command lists the local skills in
.claude/skills, .agents/skills, the directories of other agents, and skills, with the source
that "gh skill" recorded. It writes skillpm.yaml, and leaves the skills where they are. With
--pack, skillpm.yaml describes a pack of these skills, ready to publish.`,
		Example: `  skillpm import --dry-run
  skillpm import --pack acme/skills
  skillpm import skills-lock.json
  skillpm import apm.yml --dry-run
  skillpm import .claude-plugin/marketplace.json --keep-going`,
		Args: console.Need(0, 1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			if len(args) > 0 || o.Pack == "" {
				if o.File, err = a.importFile(args); err != nil {
					return err
				}
			}
			o.Accept = a.AcceptIncreases
			note := a.NewProjectNote(o.Scope)
			r, err := c.Import(cmd.Context(), o)
			if err != nil {
				return err
			}
			a.NoteUnlessEmpty(note)
			return a.printImport(r)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would change, without changing it")
	f.BoolVar(&o.KeepGoing, "keep-going", false, "skip sources that skillpm cannot open")
	f.StringVar(&o.Pack, "pack", "", "make the local skills the pack `OWNER/NAME`, version 0.1.0")
	f.BoolVar(&o.Offline, "offline", false, "do not use the network")
	scopeFlag(cmd, &o.Scope)
	return cmd
}

// importFile returns the named file, or one of this directory: the only one, or one that the user chooses. It is "" if
// there is none.
func (a *app) importFile(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	dir, err := a.WorkDir()
	if err != nil {
		return "", err
	}
	var found []string
	var choices []console.Choice
	for _, name := range []string{
		"skills-lock.json", ".skill-lock.json", "apm.yml", "apm.lock.yaml", "agents.lock", "agents.toml",
		"toolhive.lock.yaml", ".claude-plugin/marketplace.json",
	} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			found = append(found, name)
			choices = append(choices, console.Choice{Value: name})
		}
	}
	switch {
	case len(found) == 0:
		return "", nil
	case len(found) == 1:
		return found[0], nil
	case !a.CanAsk():
		return "", diag.Errorf(diag.Usage, "skillpm import needs a FILE").
			WithHint("use %s", textx.OneOf(found))
	}
	return a.PickOne(console.PickList{
		Title: "Which file?", Note: "Select the file with the skills to import.", Choices: choices,
	})
}

func (a *app) printImport(r *skillpm.ImportReport) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	for _, s := range r.Skipped {
		version := ""
		if s.Line > 0 {
			version = fmt.Sprintf(":%d", s.Line)
		}
		a.Warn("%s%s: skipped %s: %s", r.File, version, s.What, s.Why)
	}
	if a.Quiet {
		return nil
	}
	p := a.Palette(a.Stdout)
	if len(r.Local) > 0 {
		a.printLocalSkills(p, r)
		return nil
	}
	for _, i := range r.Imported {
		line := fmt.Sprintf("%s %s  %s", p.Green("+"), p.Bold(i.Pack), i.Requires)
		if i.Existed {
			line = fmt.Sprintf("%s %s  %s %s", p.Dim("="), i.Pack, i.Requires, p.Dim("(already in skillpm.yaml)"))
		}
		if len(i.Names) > 0 {
			line += p.Dim("  for " + a.someNames(i.Names))
		}
		fmt.Fprintln(a.Stdout, line)
	}
	if r.Install == nil {
		a.Note("Nothing to import from %s.", r.File)
		return nil
	}
	fmt.Fprintln(a.Stdout)
	return a.printInstall(r.Install, "install")
}

// noteRecordedSources prints how to turn copies whose source another tool recorded into dependencies: one command for
// each source.
func (a *app) noteRecordedSources(local []skillpm.LocalSkill) {
	var sources []string
	dirs, flags := map[string][]string{}, map[string]string{}
	for _, s := range local {
		if s.Source == "" || !skill.LegalName(s.Name) {
			continue
		}
		if dirs[s.Source] == nil {
			sources = append(sources, s.Source)
		}
		dirs[s.Source] = append(dirs[s.Source], s.Dir)
		flags[s.Source] += " --skill " + s.Name
	}
	for _, source := range sources {
		copies := "it"
		if len(dirs[source]) > 1 {
			copies = "them"
		}
		a.Note("To update %s with skillpm, delete %s, and run: skillpm install %s%s",
			textx.FirstAndMore(dirs[source], 5), copies, skill.QuoteArgument(source), flags[source])
	}
}

// printLocalSkills prints the local skills of a project, what happens with the manifest, and what to do next.
func (a *app) printLocalSkills(p console.Palette, r *skillpm.ImportReport) {
	for _, s := range r.Local {
		line := "  " + p.Bold(console.Flat(s.Name)) + "  " + p.Dim(console.Flat(s.Dir))
		if s.Source != "" {
			line += p.Dim("  from " + console.Printable(s.Source))
		}
		fmt.Fprintln(a.Stdout, line)
	}
	verb, what := "Wrote", r.Manifest
	if r.DryRun {
		verb = "Dry run: would write"
	}
	if r.Pack != "" {
		what += " for the pack " + r.Pack
	}
	switch {
	case !r.Changed:
		fmt.Fprintf(a.Stdout, "%s %s: no changes to %s\n", p.Green("✓"), textx.Count(len(r.Local), "local skill"),
			what)
	case r.DryRun:
		fmt.Fprintf(a.Stdout, "%s; %s would stay unchanged\n", verb+" "+what, textx.Count(len(r.Local), "local skill"))
	default:
		fmt.Fprintf(a.Stdout, "%s %s %s; %s stayed unchanged\n", p.Green("✓"), verb, what,
			textx.Count(len(r.Local), "local skill"))
	}
	if r.Pack != "" {
		a.Note("Check the pack with \"skillpm publish --dry-run\", and publish it with \"skillpm publish\".")
	} else {
		a.noteRecordedSources(r.Local)
		a.Note("Check the skills with \"skillpm validate\". To share them as a pack, run: skillpm import --pack " +
			"OWNER/NAME")
	}
}
