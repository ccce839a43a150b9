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
		Use:   "index",
		Short: "Manage an index of packs",
		Long: `An index is a directory of plain files that map packs and versions to their sources. The
packs themselves stay in OCI registries and git repositories. Keep the index in a git
repository, and run "skillpm index check" in CI. git, any web server, or an OCI registry
can serve the index.`,
		Example: `  skillpm index init ./index --title "Packs of Acme"
  skillpm index add oci://registry.example/acme/deploy:1.4.0 --index ./index
  skillpm index check ./index --changed-since origin/main
  skillpm index publish ./index --to oci://registry.example/acme/index`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, c := range []*cobra.Command{
		newIndexInit(a), newIndexAdd(a), newIndexCheck(a), newIndexBuild(a),
		newIndexPublish(a), newIndexServe(a), newIndexSite(a), newIndexAdvisory(a),
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
	c := indexer.New(o)
	a.Closers = append(a.Closers, c.Close)
	return c, nil
}

func newIndexInit(a *app) *cobra.Command {
	var o indexer.InitOptions
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Create an empty index",
		Long: `The command writes the files of an index to DIR (default: this directory): config.json, an
empty directory packs, and a .gitattributes that keeps git from changing line endings.`,
		Example: `  skillpm index init ./index --title "Packs of Acme"
  skillpm index init
  skillpm index init ./index --json`,
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
				fmt.Fprintln(a.Stdout, f)
			}
			a.Note("Created an index in %s; add packs with: skillpm index add SOURCE --index %s", r.Dir, r.Dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Title, "title", "", "set the title of the index to `TEXT`")
	return cmd
}

func newIndexAdd(a *app) *cobra.Command {
	var o indexer.AddOptions
	cmd := &cobra.Command{
		Use:   "add SOURCE...",
		Short: "Add published packs to an index",
		Long: `SOURCE is a version in an OCI registry, a tag of a git repository, or an OCI layout inside
the index. Write SOURCE as in "skillpm install SOURCE". The command fetches each pack, and
records its version and digests in the index. Then commit the change, or open a pull
request.

The command never changes a version that the index already has. If the content of the
version at SOURCE is different, the command fails.`,
		Example: `  skillpm index add oci://registry.example/acme/deploy:1.4.0
  skillpm index add github.com/acme/tools#v1.2.0 --index ./index
  skillpm index add oci://registry.example/acme/deploy:1.4.0 --dry-run`,
		Args:              console.Need(1, 1000, "at least one SOURCE"),
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
	f.StringVar(&o.Dir, "index", "", "use the index in `DIR` instead of this directory")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would be added, without changing the index")
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
			a.Note("%s %s is already in the index.", one.Pack, one.Version)
			continue
		}
		fmt.Fprintf(a.Stdout, "%s %s %s  %s\n", p.Green("+"), one.Pack, one.Version, p.Dim(one.File))
	}
	if r.DryRun {
		a.Note("Dry run: the index did not change.")
	}
	return nil
}

func newIndexCheck(a *app) *cobra.Command {
	var o indexer.CheckOptions
	format := "text"
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Verify an index",
		Long: `The command fails if a file of the index is unreadable or has the wrong path, or if a line
has changed or disappeared since an earlier commit. It also fails if a source does not have
the digest, skills, integrity, and dependencies that the index records for the source.

Exit code 6 means that the content of a source differs from the index, 8 that a source is
unreachable, and 3 any other error.

In CI, compare a pull request with its target branch, and read only the sources of new
versions: --changed-since origin/main --new. Compare a push with the commit before the
push. GitHub Actions has this commit in github.event.before. For the first push of a
branch, the value consists of zeros, and skillpm compares nothing. Both comparisons need
the git history (actions/checkout with fetch-depth: 0).`,
		Example: `  skillpm index check
  skillpm index check ./index --changed-since origin/main --new --format github
  skillpm index check --offline`,
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "github" {
				return diag.Errorf(diag.Usage, "unknown --format %q", format).
					WithHint("use text, github, or --json")
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
	f.StringVar(&o.Since, "changed-since", "", "compare the history with the merge base of `REF` (default: HEAD's parent)")
	f.BoolVar(&o.Offline, "offline", false, "check only the files and the history")
	f.BoolVar(&o.New, "new", false, "read only the sources of versions that the earlier commit does not have")
	f.StringVar(&format, "format", format, "print findings as `text|github`")
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
			Workspace: a.Getenv("GITHUB_WORKSPACE"), JobSummary: a.Getenv("GITHUB_STEP_SUMMARY"),
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
		fmt.Fprintf(a.Stdout, "%s %s: %s of %s; %s\n", a.Palette(a.Stdout).Green("✓"), r.Index,
			textx.Count(r.Versions, "version"), textx.Count(r.Packs, "pack"), checkedSourcesText(r))
	}
	return failed
}

func checkedSourcesText(r *indexer.CheckReport) string {
	text := textx.Count(r.Fetched, "source") + " verified"
	if r.Since != "" {
		text += ", unchanged since " + r.Since[:min(12, len(r.Since))]
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
		sign := "✗"
		if f.Severity != diag.SeverityError {
			sign = "!"
		}
		fmt.Fprintf(a.Stdout, "%s %s: %s %s\n", p.Severity(f.Severity, sign), console.Printable(where),
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
		Short: "Generate the derived files of an index",
		Long: `The command generates catalog.ndjson.gz, which "skillpm search" reads. Equal indexes give
equal files. skillpm does not need derived files to resolve versions. You can delete the
files, generate them again, and leave them out of git.`,
		Example: `  skillpm index build
  skillpm index build ./index --output ./public
  skillpm index build ./index --json`,
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
			a.Note("Indexed %s.", textx.Count(r.Packs, "pack"))
			return nil
		},
	}
	cmd.Flags().StringVarP(&o.Out, "output", "o", "", "write to `DIR` instead of the index")
	_ = cmd.MarkFlagDirname("output") // cannot fail: the flag exists
	return cmd
}
