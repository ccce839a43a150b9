package author

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
)

func newIndex(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "index",
		Short:   "Keep an index: what packs there are, and where",
		GroupID: "author",
		Long: `An index is a directory of plain files that says which packs there are and where
each version is. It holds no packs: those stay in OCI registries and git
repositories. Keep it in a git repository, have its CI run skillpm index check,
and let others read it from there, from any web server, or from an OCI registry.`,
		Example: `  skillpm index init ./index --title "Packs of Acme"
  skillpm index add oci://registry.example/acme/deploy:1.4.0 --index ./index
  skillpm index check ./index --since origin/main
  skillpm index build ./index
  skillpm index publish ./index --to oci://registry.example/acme/index`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, c := range []*cobra.Command{
		newIndexInit(a), newIndexAdd(a), newIndexCheck(a), newIndexBuild(a),
		newIndexPublish(a), newIndexServe(a), newIndexSite(a),
	} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// curator returns the client for indexes.
func (a *app) curator() (*indexer.Client, error) {
	o, err := a.Options()
	if err != nil {
		return nil, err
	}
	console.UntuneMemory() // an index may have a hundred thousand packs
	c := indexer.New(o)
	a.Closers = append(a.Closers, c.Close)
	return c, nil
}

func newIndexInit(a *app) *cobra.Command {
	var o indexer.InitOptions
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make an index without packs",
		Long: `Make an index without packs in DIR, or in this directory: config.json, and a
.gitattributes that keeps git from changing its bytes.`,
		Example:           "  skillpm index init ./index --title \"Packs of Acme\"",
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.Dir = console.FirstOf(args)
			r, err := c.Init(cmd.Context(), o)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			for _, f := range r.Files {
				fmt.Fprintln(a.Stdout, console.Printable(f))
			}
			a.Note("made an index in %s; skillpm index add PLACE --index %s adds a pack to it", r.Dir, r.Dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Title, "title", "", "what people call the index: `TEXT`")
	return cmd
}

func newIndexAdd(a *app) *cobra.Command {
	var o indexer.AddOptions
	cmd := &cobra.Command{
		Use:   "add PLACE...",
		Short: "Add a published pack to an index",
		Long: `Add a line for the pack at each PLACE, written as install takes it: a version in
an OCI registry, a tag of a git repository, or a layout inside the index. The
pack is fetched and hashed, and its line says what was found. Nothing is
published: commit the change, or open a pull request with it.

What the index has already is left alone; another content for a version that it
has is refused.`,
		Example: `  skillpm index add oci://registry.example/acme/deploy:1.4.0
  skillpm index add git+https://git.example/acme/tools.git#v1.2.0 --index ./index`,
		Args:              console.Need(1, 1000, "at least one PLACE"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.References = args
			r, err := c.Add(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printAdded(r)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "index", "", "the index in `DIR`, and not in this directory")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be added, and write nothing")
	_ = cmd.MarkFlagDirname("index") // cannot fail: the flag exists
	return cmd
}

func (a *app) printAdded(r *indexer.AddReport) error {
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	p := a.Palette(a.Stdout)
	for _, one := range r.Packs {
		if !one.Added {
			a.Note("%s %s is in the index already", one.Pack, one.Version)
			continue
		}
		fmt.Fprintf(a.Stdout, "%s %s %s  %s\n", p.Green("+"), console.Printable(one.Pack),
			console.Printable(one.Version), p.Dim(console.Printable(one.File)))
	}
	if r.DryRun {
		a.Note("nothing was written: this was a dry run")
	}
	return nil
}

func newIndexCheck(a *app) *cobra.Command {
	var o indexer.CheckOptions
	format := "text"
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Prove that an index is right, and that it only grew",
		Long: `Prove that an index is right: every file can be read and is where it belongs;
no line of a file changed and none went since an earlier commit; and every
version's digest is at its source, with the skills, the integrity and the
dependencies that its line says. Sources are asked at once, several at a time.

The exit code is 6 where something is not what it was or was promised to be, 3
where something else is wrong, and 8 where a source did not answer.

In CI, compare a pull request with what it is merged into, and ask only about
what it adds: --since origin/main --new. Compare a push with what was there
before, which is more than HEAD's parent where several commits are pushed at
once: in GitHub Actions github.event.before; zeros only, before the first push,
compare with nothing. That needs the history (with actions/checkout,
fetch-depth: 0).`,
		Example: `  skillpm index check
  skillpm index check ./index --since origin/main --new --format github
  skillpm index check --offline`,
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "github" {
				return diag.Errorf(diag.Usage, "format %q is not known", format).
					WithHint("use text or github, or --json")
			}
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.Dir = console.FirstOf(args)
			r, err := c.Check(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printIndexCheck(r, format)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Since, "since", "", "compare history with the merge base of `REV` (default: HEAD's parent)")
	f.BoolVar(&o.Offline, "offline", false, "ask no source: look at files and history only")
	f.BoolVar(&o.New, "new", false, "ask only about versions that the earlier commit does not have")
	f.StringVar(&format, "format", format, "write findings as `text|github`")
	a.CompleteFlag(cmd, "format", cobra.FixedCompletions([]string{"text", "github"},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) printIndexCheck(r *indexer.CheckReport, format string) error {
	failed := error(nil)
	if !r.OK {
		failed = console.Reported{Exit: r.Code()}
	}
	switch {
	case a.JSON:
		if err := a.PrintJSON(r); err != nil {
			return err
		}
		return failed
	case format == "github":
		dir, err := a.WorkDir()
		if err != nil {
			return err
		}
		if err := render.GitHub(a.Stdout, render.Outcome{
			Report: lint.Report{Findings: r.Findings}, Dir: dir,
			Workspace: a.Getenv("GITHUB_WORKSPACE"),
		}); err != nil {
			return err
		}
	default:
		a.listIndexFindings(r)
	}
	for _, n := range r.Notes {
		a.Note("%s", n)
	}
	if r.OK && !a.Quiet && format == "text" {
		fmt.Fprintf(a.Stdout, "%s %s: %s of %s; %s\n", a.Palette(a.Stdout).Green("✓"), console.Printable(r.Index),
			textx.Count(r.Versions, "version"), textx.Count(r.Packs, "pack"), checkedSourcesText(r))
	}
	return failed
}

func checkedSourcesText(r *indexer.CheckReport) string {
	text := fmt.Sprintf("%d asked for", r.Fetched)
	if r.Since != "" {
		text += ", nothing changed or went since " + r.Since[:min(12, len(r.Since))]
	}
	return text
}

func (a *app) listIndexFindings(r *indexer.CheckReport) {
	p := a.Palette(a.Stdout)
	for _, f := range r.Findings {
		where := f.Path
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		sign := p.Red("✗")
		if f.Severity != diag.SeverityError {
			sign = p.Yellow("!")
		}
		fmt.Fprintf(a.Stdout, "%s %s: %s %s\n", sign, console.Printable(where),
			console.Printable(strings.ReplaceAll(f.Message, "\n", " ")), p.Dim("("+f.Rule+")"))
		if f.Fix != "" {
			fmt.Fprintf(a.Stdout, "    %s\n", console.Printable(f.Fix))
		}
	}
}

func newIndexBuild(a *app) *cobra.Command {
	var o indexer.BuildOptions
	cmd := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Make the files that are derived from an index",
		Long: `Make the files that are derived from the packs of an index: catalog.ndjson.gz,
which is what searching reads. The same packs give the same bytes, wherever and
whenever this runs. Nothing is resolved from derived files; they can be deleted
and made again, and need not be committed.`,
		Example:           "  skillpm index build\n  skillpm index build ./index --out ./public",
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.Dir = console.FirstOf(args)
			r, err := c.Build(cmd.Context(), o)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			for _, f := range r.Files {
				fmt.Fprintln(a.Stdout, console.Printable(f.Path))
			}
			a.Note("%s of %s", textx.Count(r.Packs, "pack"), r.Index)
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Out, "out", "", "write to `DIR`, and not into the index")
	_ = cmd.MarkFlagDirname("out") // cannot fail: the flag exists
	return cmd
}
