package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/author"
	"github.com/skillpm/skillpm/pkg/diag"
)

func newPublish(a *app) *cobra.Command {
	var o author.PublishOptions
	var all bool
	cmd := &cobra.Command{
		Use:     "publish [DIR]",
		Short:   "Publish the pack in a directory",
		GroupID: "author",
		Long: `Check the pack in DIR (default: here) and publish it under the name and version
in its skillpm.yaml: to an OCI registry, an OCI layout, or by default the user's
local layout, which install looks in.

In a registry the pack's repository is HOST/NAMESPACE/name where the namespace
ends with the pack's owner, and HOST/NAMESPACE/owner/name elsewhere.

What the pack requires by its path is published as a range of versions: the one
that is written next to the path, or ^ and the version that is there. With
--workspace the packs are published that the workspace: of DIR's skillpm.yaml
names, each after those that it requires, and none unless all are valid.

A published version never changes: publishing other content under it is refused,
publishing the same content again succeeds. Files that .skillpmignore names, and
what never belongs in a pack, stay out; --dry-run lists what goes in, and makes
all the checks.`,
		Example: `  skillpm publish
  skillpm publish --to oci://registry.example/acme
  skillpm publish ./packs/deploy --to oci-layout:./out
  skillpm publish --dry-run
  skillpm publish --workspace --to oci://registry.example/acme`,
		Args: need(0, 1, "at most one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.author()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				o.Dir = args[0]
			}
			if all {
				r, err := c.PublishWorkspace(cmd.Context(), o)
				return a.printWorkspace(r, err)
			}
			r, err := c.Publish(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printPublish(r)
		},
	}
	cmd.Flags().StringVar(&o.To, "to", "", "publish to `PLACE`: oci://HOST/NAMESPACE or oci-layout:DIR")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "list the files, look whether they are published already, and publish nothing")
	cmd.Flags().BoolVar(&all, "workspace", false, "publish the packs of the workspace in DIR")
	return cmd
}

// printWorkspace prints every pack as if it had been published alone, and then what went wrong. As JSON it is one
// document.
func (a *app) printWorkspace(r *author.WorkspaceReport, err error) error {
	if r == nil {
		return err
	}
	if a.json {
		if err != nil {
			return err
		}
		if err := a.printJSON(r); err != nil || r.Valid() {
			return err
		}
		return reported{code: diag.Invalid}
	}
	invalid := 0
	for _, p := range r.Packs {
		if r.Valid() || !p.Valid {
			if shown := a.printPublish(p); shown != nil {
				a.report(nil, shown)
				invalid++
			}
		}
	}
	if err == nil && invalid > 0 {
		return diag.Errorf(diag.Invalid, "%s of %s not valid: nothing was published", plural(invalid, "pack"), plural(len(r.Packs), "pack"))
	}
	return err
}

func (a *app) printPublish(r *author.PublishReport) error {
	if !r.Valid {
		if a.json {
			if err := a.printJSON(r); err != nil {
				return err
			}
			return reported{code: diag.Invalid}
		}
		if err := a.renderText(a.Stderr, outcome{Report: r.Check}); err != nil {
			return err
		}
		return diag.Errorf(diag.Invalid, "%s %s is not valid and was not published", r.Pack, r.Version).
			WithHint("mend the errors above; skillpm validate shows them again")
	}
	if a.json {
		return a.printJSON(r)
	}
	if r.DryRun {
		rows := [][]string{}
		for _, f := range r.Files {
			rows = append(rows, []string{fmt.Sprintf("%d", f.Size), f.Mode, f.Path})
		}
		if err := table(a.Stdout, rows); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(r.Requires)) {
			a.note("%s %s requires %s %s", r.Pack, r.Version, name, r.Requires[name])
		}
		if r.Existed {
			a.note("%s %s is already published at %s with the same content", r.Pack, r.Version, r.Target)
		}
		a.note("%s %s: %s, %d bytes; nothing was published: this was a dry run", r.Pack, r.Version, plural(len(r.Files), "file"), r.Size)
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s@%s %s\n", r.Pack, r.Version, r.Digest)
	switch {
	case r.Existed:
		a.note("already published at %s with the same content", r.Target)
	default:
		a.note("published at %s (%s)", r.Target, plural(len(r.Files), "file"))
	}
	return nil
}
