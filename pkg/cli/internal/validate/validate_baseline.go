package validate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/publish"
)

// baselineFlags are the flags that write a baseline.
type baselineFlags struct {
	write  bool
	reason string
}

func (b *baselineFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&b.write, "write-baseline", false,
		"record all errors and warnings as accepted (default file: "+lint.BaselineName+")")
	f.StringVar(&b.reason, "reason", "", "with --write-baseline: record `TEXT` as the reason")
}

func (b *baselineFlags) check(o publish.ValidateOptions, flags validateFlags) error {
	switch {
	case b.reason != "" && !b.write:
		return diag.Errorf(diag.Usage, "--reason needs --write-baseline")
	case b.write && (flags.changes() || flags.stdin || o.Changed):
		return diag.Errorf(diag.Usage,
			"--write-baseline cannot be used with --fix, --diff, --stdin, or --changed")
	}
	return nil
}

// isYAML reports whether a path has the extension of a baseline file.
func isYAML(path string) bool {
	return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
}

// writeBaseline writes a baseline and prints a summary.
func (a *app) writeBaseline(ctx context.Context, c *publish.Client, o publish.ValidateOptions, b baselineFlags) error {
	r, err := c.WriteBaseline(ctx, o, b.reason)
	if diag.CodeOf(err) == diag.Usage && b.reason == "" {
		return diag.Errorf(diag.Usage, "--write-baseline needs --reason").WithHint("add the reason with --reason TEXT")
	}
	if i := slices.IndexFunc(o.Paths, isYAML); i >= 0 && diag.CodeOf(err) == diag.NotFound {
		return diag.Errorf(diag.NotFound, "%w", err).WithHint(
			"write the baseline to %s with: --baseline %s --write-baseline", o.Paths[i], o.Paths[i])
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s added, %d kept, %d removed\n", r.Path,
		textx.Count(r.Added, "finding"), r.Kept, r.Dropped)
	return err
}
