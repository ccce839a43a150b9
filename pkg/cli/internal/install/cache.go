package install

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newCache(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Inspect, verify, and clean the store and caches",
		Long: `All projects share the store of skills, the commits of git repositories, and the files of
indexes. You can delete all of these files; skillpm fetches them again when needed.`,
		Example: `  skillpm cache list
  skillpm cache verify
  skillpm cache gc --older-than 7d
  rm -rf "$(skillpm cache path)"`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, c := range []*cobra.Command{newCachePath(a), newCacheList(a), newCacheVerify(a), newCacheGC(a)} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func newCachePath(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "Print the cache directory",
		Long: `The cache directory contains the store, git commits, index files, and the packs that
"skillpm try" fetched. --json prints the path of each part. Set XDG_CACHE_HOME to move the
cache directory.`,
		Example: `  skillpm cache path
  skillpm cache path --json
  du -sh "$(skillpm cache path)"`,
		RunE: func(*cobra.Command, []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			paths := c.CachePaths()
			if a.JSON {
				return a.PrintJSON(paths)
			}
			fmt.Fprintln(a.Stdout, paths.Root)
			return nil
		},
	}
}

func newCacheList(a *app) *cobra.Command {
	order := skillpm.SortBySize
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the skills in the store",
		Long: `Each row shows the digest of a skill in the store, the size, the day of the last use, and
the installed skills of this project and the user with this digest. The lines below the
table show the sizes of the git commits, the index files, and the packs that "skillpm try"
fetched.`,
		Example: `  skillpm cache list
  skillpm cache list --sort used
  skillpm cache list --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := c.CacheList(cmd.Context(), order)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(list)
			}
			return a.printCache(list)
		},
	}
	cmd.Flags().StringVar(&order, "sort", order,
		"sort by `ORDER`: size (largest first) or used (least recently used first)")
	a.CompleteFlag(cmd, "sort", cobra.FixedCompletions([]string{skillpm.SortBySize, skillpm.SortByUse},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) printCache(list *skillpm.CacheList) error {
	if len(list.Trees) > 0 {
		rows := [][]string{{"DIGEST", "SIZE", "FILES", "USED", "USED BY"}}
		for _, t := range list.Trees {
			used := t.Used.Format(time.DateOnly)
			if t.Damaged {
				used = "damaged"
			}
			rows = append(rows, []string{
				shortTree(t.Tree), console.BytesText(t.Bytes), strconv.Itoa(t.Files), used,
				strings.Join(t.UsedBy, ", "),
			})
		}
		if err := console.Table(a.Stdout, rows); err != nil {
			return err
		}
	}
	if a.Quiet {
		return nil
	}
	for _, other := range []struct {
		what string
		size skillpm.CacheSize
	}{{"git commits", list.Git}, {"index files", list.HTTP}, {"packs of skillpm try", list.Try}} {
		if other.size.Files > 0 {
			fmt.Fprintf(a.Stdout, "%s: %s, %s\n", other.what, textx.Count(other.size.Files, "file"),
				console.BytesText(other.size.Bytes))
		}
	}
	fmt.Fprintf(a.Stdout, "%s in %s (%s) in %s\n", textx.Count(len(list.Trees), "skill"),
		textx.Count(list.Files, "file"), console.BytesText(list.Bytes), list.Paths.Store)
	return nil
}

// shortTree shortens a digest for display.
func shortTree(digest string) string {
	const most = len("t1:sha256:") + 16
	return digest[:min(len(digest), most)]
}

func newCacheVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Verify the skills in the store",
		Long: `The command hashes every file in the store. The exit code is 6 if a skill is damaged. The
command removes damaged skills from the store; "skillpm install" fetches them again.`,
		Example: `  skillpm cache verify
  skillpm cache verify --json
  skillpm cache verify && skillpm verify  # then the installed skills`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.CacheVerify(cmd.Context())
			if err != nil {
				return err
			}
			return a.printCacheCheck(r)
		},
	}
}

func (a *app) printCacheCheck(r *skillpm.CacheCheck) error {
	if a.JSON {
		if err := a.PrintJSON(r); err != nil || len(r.Damaged) == 0 {
			return err
		}
		return console.Reported{Exit: diag.Integrity}
	}
	p := a.Palette(a.Stdout)
	stays := 0
	for _, d := range r.Damaged {
		fmt.Fprintf(a.Stdout, "%s %s: %s\n", p.Red("✗"), shortTree(d.Tree), console.Printable(d.Message))
		if len(d.UsedBy) > 0 {
			fmt.Fprintf(a.Stdout, "    used by %s\n", console.Printable(strings.Join(d.UsedBy, ", ")))
		}
		if !d.Removed {
			stays++
		}
	}
	if len(r.Damaged) == 0 {
		if !a.Quiet {
			fmt.Fprintf(a.Stdout, "%s Verified %s, %s\n", p.Green("✓"),
				textx.Count(r.Trees, "skill"), console.BytesText(r.Bytes))
		}
		return nil
	}
	are := "are"
	if len(r.Damaged) == 1 {
		are = "is"
	}
	err := diag.Errorf(diag.Integrity, "%d of %s in the store %s damaged", len(r.Damaged),
		textx.Count(r.Trees, "skill"), are)
	if stays > 0 {
		return err.WithHint("skillpm cannot remove %s: make the store writable, or delete the store",
			textx.Count(stays, "damaged skill"))
	}
	return err.WithHint("check the installed skills with: skillpm verify")
}

func newCacheGC(a *app) *cobra.Command {
	var o skillpm.CacheGCOptions
	age := "30d"
	cmd := &cobra.Command{
		Use:     "gc",
		Aliases: []string{"prune", "clean"},
		Short:   "Remove unused files from the store and caches",
		Long: `By default, the command removes files that were not used for 30 days: skills in the store,
git commits, index files, and the packs that "skillpm try" fetched. The command also removes
temporary files of interrupted processes. The command does not remove installed skills. You
can run the command during an installation.`,
		Example: `  skillpm cache gc --dry-run
  skillpm cache gc --older-than 7d
  skillpm cache gc --all`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			unused, err := console.ParseAge("older-than", age)
			if err != nil {
				return err
			}
			if o.All && cmd.Flags().Changed("older-than") {
				return diag.Errorf(diag.Usage, "--all cannot be used with --older-than")
			}
			o.Unused = unused
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.CacheGC(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printFreed(r)
		},
	}
	cmd.Flags().StringVar(&age, "older-than", age, "remove files that were not used for `TIME`, such as 7d, 2w, or 36h")
	cmd.Flags().BoolVar(&o.All, "all", false, "remove all files of the store and caches, regardless of age")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "show what would be removed, without removing it")
	return cmd
}

func (a *app) printFreed(r *skillpm.CacheFreed) error {
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	switch {
	case a.JSON:
		return a.PrintJSON(r)
	case a.Quiet:
		return nil
	}
	p := a.Palette(a.Stdout)
	trees := r.Trees
	if len(trees) > maxListed && a.Verbose == 0 {
		size := int64(0)
		for _, t := range trees {
			size += t.Bytes
		}
		fmt.Fprintf(a.Stdout, "%s %s, %s\n", p.Red("-"), textx.Count(len(trees), "skill"), console.BytesText(size))
		trees = nil
	}
	for _, t := range trees {
		line := fmt.Sprintf("%s %s %s", p.Red("-"), shortTree(t.Tree), console.BytesText(t.Bytes))
		if len(t.UsedBy) > 0 {
			line += p.Dim("  used by " + console.Printable(strings.Join(t.UsedBy, ", ")))
		}
		fmt.Fprintln(a.Stdout, line)
	}
	for _, other := range []struct {
		what string
		size skillpm.CacheSize
	}{{"of git commits", r.Git}, {"of indexes", r.HTTP}, {"of skillpm try", r.Try}} {
		if other.size.Files > 0 {
			fmt.Fprintf(a.Stdout, "%s %s %s, %s\n", p.Red("-"), textx.Count(other.size.Files, "file"), other.what,
				console.BytesText(other.size.Bytes))
		}
	}
	if r.Leftovers > 0 {
		fmt.Fprintf(a.Stdout, "%s %s of interrupted processes\n", p.Red("-"), textx.Count(r.Leftovers, "temporary file"))
	}
	verb := "Freed"
	if r.DryRun {
		verb = "Dry run: would free"
	}
	fmt.Fprintf(a.Stdout, "%s %s; %s\n", verb, console.BytesText(r.Bytes), keptText(r))
	return nil
}

// keptText describes what stays in the store.
func keptText(r *skillpm.CacheFreed) string {
	if r.Kept == 0 {
		return "the store is empty"
	}
	stay := textx.CountOf(r.Kept, "skill stays", "skills stay")
	return fmt.Sprintf("%s in the store (%s)", stay, console.BytesText(r.KeptBytes))
}
