package author

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/publish"
)

func newPack(a *app) *cobra.Command {
	var o publish.ReleaseOptions
	var flags publishFlags
	var output string
	cmd := &cobra.Command{
		Use:     "pack [DIR]",
		Short:   "Write a pack into a file or directory, without a registry",
		GroupID: "author",
		Long: `Check the pack in DIR (default: here) and write what publish would push: an OCI
image layout, as a tar where the name ends with .tar, else as a directory. The
digest is the one that publishing gives it, on every machine, and the same pack
gives the same file, byte for byte.

A directory can hold many packs and versions; install takes them with
oci-layout:DIR//OWNER/NAME. What is in a tar comes out with tar -x, or goes to a
registry with skillpm publish --from. Other programs read both, such as oras
with --oci-layout FILE@DIGEST or --oci-layout-path DIR OWNER/NAME:VERSION.`,
		Example: `  skillpm pack                               acme-deploy-1.4.0.tar
  skillpm pack ./packs/deploy -o deploy.tar
  skillpm pack -o ./layout
  skillpm pack --format flux -o deploy.tar`,
		Args: console.Need(0, 1, "at most one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Dir = args[0]
			}
			if err := flags.resolve(a, &o); err != nil {
				return err
			}
			c, err := a.Author()
			if err != nil {
				return err
			}
			r, err := c.Pack(cmd.Context(), o, output)
			if err != nil {
				return err
			}
			return a.printPacked(c, r)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "",
		"write `FILE`.tar, or the directory of that name (default OWNER-NAME-VERSION.tar)")
	a.addPackFlags(cmd, &o, &flags)
	return cmd
}

func (a *app) printPacked(c *publish.Client, r *publish.PackReport) error {
	if !r.Valid {
		return a.printInvalid(r.ReleaseReport, "packed")
	}
	for _, w := range r.Warnings {
		a.Warn("%s: %s", r.Pack, w)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	fmt.Fprintf(a.Stdout, "%s@%s %s\n", r.Pack, r.Version, r.Digest)
	a.Note("packed in %s (%s)", c.DisplayPath(r.Output), textx.Count(len(r.Files), "file"))
	return nil
}
