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
		Use:     "cache",
		Short:   "Look at, check and clean what was fetched",
		GroupID: "use",
		Long: `What was fetched is kept in one directory for all projects: the store, which has
skills by the digest of their files, commits of git repositories, and files of
indexes. All of it can be fetched again, so nothing is lost when it goes.`,
		Example: `  skillpm cache list
  skillpm cache verify
  skillpm cache gc --older-than 7d
  rm -rf "$(skillpm cache path)"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q: skillpm cache has path, list, verify and gc", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
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
		Short: "Print the directory of the caches",
		Long: "Print the directory of the caches. With --json, those in it as well: root, store,\ngit, http and " +
			"try. XDG_CACHE_HOME moves it.",
		Example: "  skillpm cache path\n  skillpm cache path --json",
		RunE: func(*cobra.Command, []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			paths := c.CachePaths()
			if a.JSON {
				return a.PrintJSON(paths)
			}
			fmt.Fprintln(a.Stdout, console.Printable(paths.Root))
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
		Long: `List the skill trees in the store, with when they were last used (to a day) and
which skills of this project or of the user have them.`,
		Example: "  skillpm cache list\n  skillpm cache list --sort used\n  skillpm cache list --json",
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
	cmd.Flags().StringVar(&order, "sort", order, "sort by `size|used`: the largest first, or what was used longest ago")
	a.CompleteFlag(cmd, "sort", cobra.FixedCompletions([]string{skillpm.SortBySize, skillpm.SortByUse},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) printCache(list *skillpm.CacheList) error {
	if len(list.Trees) > 0 {
		rows := [][]string{{"TREE", "SIZE", "FILES", "USED", "USED BY"}}
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
	fmt.Fprintf(a.Stdout, "%s in %s, %s, in %s\n", textx.Count(len(list.Trees), "tree"),
		textx.Count(list.Files, "file"), console.BytesText(list.Bytes), console.Printable(list.Paths.Store))
	for _, other := range []struct {
		what string
		size skillpm.CacheSize
	}{{"git commits", list.Git}, {"index files", list.HTTP}, {"packs that are tried", list.Try}} {
		if other.size.Files > 0 {
			fmt.Fprintf(a.Stdout, "%s: %s, %s\n", other.what, textx.Count(other.size.Files, "file"),
				console.BytesText(other.size.Bytes))
		}
	}
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
		Short: "Hash everything in the store",
		Long: `Hash every file in the store and compare it with its digest. What is damaged is
moved out of the way, so that it is fetched again when it is needed; then the
exit code is 6. (Nothing damaged is ever installed: what leaves the store is
hashed, too.)`,
		Example: "  skillpm cache verify\n  skillpm cache verify --json",
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
			fmt.Fprintf(a.Stdout, "    of %s\n", console.Printable(strings.Join(d.UsedBy, ", ")))
		}
		if !d.Removed {
			stays++
		}
	}
	if len(r.Damaged) == 0 {
		if !a.Quiet {
			fmt.Fprintf(a.Stdout, "%s %s, %s: all as their digests say\n", p.Green("✓"),
				textx.Count(r.Trees, "tree"), console.BytesText(r.Bytes))
		}
		return nil
	}
	err := diag.Errorf(diag.Integrity, "%s damaged, of %d in the store", wereTrees(len(r.Damaged)), r.Trees)
	if stays > 0 {
		return err.WithHint("%d could not be removed: make the store writable, or remove it", stays)
	}
	return err.WithHint("they are out of the way, and are fetched again when they are needed; skillpm verify " +
		"checks what is installed")
}

func wereTrees(n int) string {
	if n == 1 {
		return "1 tree was"
	}
	return fmt.Sprintf("%d trees were", n)
}

func newCacheGC(a *app) *cobra.Command {
	var o skillpm.CacheGCOptions
	age := "30d"
	cmd := &cobra.Command{
		Use:     "gc",
		Aliases: []string{"prune", "clean"},
		Short:   "Remove what nobody used for 30 days",
		Long: `Remove from the caches what nobody used for 30 days: trees of the store, commits
of git repositories, files of indexes, packs that were only tried, and what
processes left that died. What a project has installed stays installed.
Installs may go on meanwhile.`,
		Example: "  skillpm cache gc --dry-run\n  skillpm cache gc --older-than 7d\n  skillpm cache gc --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			unused, err := console.ParseAge("older-than", age)
			if err != nil {
				return err
			}
			if o.All && cmd.Flags().Changed("older-than") {
				return diag.Errorf(diag.Usage, "--all removes everything, whatever its age: leave --older-than out")
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
	cmd.Flags().StringVar(&age, "older-than", age, "remove what nobody used for `TIME`, as 7d, 2w or 36h")
	cmd.Flags().BoolVar(&o.All, "all", false, "remove everything")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be removed, and remove nothing")
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
	for _, t := range r.Trees {
		line := fmt.Sprintf("%s %s %s", p.Red("-"), shortTree(t.Tree), console.BytesText(t.Bytes))
		if len(t.UsedBy) > 0 {
			line += p.Dim("  of " + console.Printable(strings.Join(t.UsedBy, ", ")))
		}
		fmt.Fprintln(a.Stdout, line)
	}
	for _, other := range []struct {
		what string
		size skillpm.CacheSize
	}{{"of git commits", r.Git}, {"of indexes", r.HTTP}, {"of packs that were tried", r.Try}} {
		if other.size.Files > 0 {
			fmt.Fprintf(a.Stdout, "%s %s %s, %s\n", p.Red("-"), textx.Count(other.size.Files, "file"), other.what,
				console.BytesText(other.size.Bytes))
		}
	}
	if r.Leftovers > 0 {
		fmt.Fprintf(a.Stdout, "%s %s of processes that died\n", p.Red("-"), textx.Count(r.Leftovers, "leftover"))
	}
	verb := "freed"
	if r.DryRun {
		verb = "would free"
	}
	fmt.Fprintf(a.Stdout, "%s %s; %s in the store, %s\n", verb, console.BytesText(r.Bytes), stay(r),
		console.BytesText(r.KeptBytes))
	return nil
}

func stay(r *skillpm.CacheFreed) string {
	if r.Kept == 1 {
		return "1 tree stays"
	}
	return fmt.Sprintf("%d trees stay", r.Kept)
}
