package govern

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newSyncPublish(a *app) *cobra.Command {
	var o skillpm.PublishListOptions
	var keyFile string
	cmd := &cobra.Command{
		Use:   "publish [DIR]",
		Short: "Publish a signed list for machines to sync with",
		Long: `Publish the list in DIR to an OCI registry, signed: its skillpm.yaml and skillpm.lock,
as skillpm install leaves them, and policy.yaml with its keys, if there is one. It is
checked as machines will check it. The same list gives the same digest, and a version
that is there with other content is a conflict.

The version is that of skillpm.yaml, or --version. For a list in git there is nothing
to publish but a signed tag: git tag -s v1.4.0.`,
		Example: `  skillpm sync publish ./fleet --to oci://registry.example/acme/fleet --version 1.4.0 --key acme.key
  skillpm sync publish ./fleet --to oci://registry.example/acme/fleet --key acme.key --dry-run`,
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.To == "" {
				return diag.Errorf(diag.Usage, "it is not said where to publish the list").
					WithHint("give --to oci://HOST/REPOSITORY")
			}
			key, err := a.SigningKey(keyFile)
			if err != nil {
				return err
			}
			options, err := a.Options()
			if err != nil {
				return err
			}
			t := skillpm.NewBase(options)
			a.Closers = append(a.Closers, t.Close)
			o.Dir, o.Key = console.FirstOf(args), key
			r, err := skillpm.PublishList(cmd.Context(), t, o)
			if err != nil {
				return err
			}
			return a.printPublishedList(r)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.To, "to", "", "publish at `oci://HOST/REPOSITORY` (required)")
	f.StringVar(&o.Version, "version", "", "the list's `VERSION`, in place of the one in skillpm.yaml")
	f.StringVar(&keyFile, "key", "", "sign with the private key in `FILE`")
	f.BoolVar(&o.DryRun, "dry-run", false, "check the list, and publish nothing")
	return cmd
}

func (a *app) printPublishedList(r *skillpm.PublishListReport) error {
	a.Warnings(r.Warnings)
	switch {
	case a.JSON:
		return a.PrintJSON(r)
	case r.DryRun:
		a.Note("nothing was published: %s would be a list of %s", r.Reference, textx.Count(r.Packs, "pack"))
		return nil
	case r.Existed:
		a.Note("it was there already, and the same")
	}
	fmt.Fprintf(a.Stdout, "%s %s\n", console.Printable(r.Reference), console.Printable(r.Digest))
	a.Note("a list of %s, signed with %s", textx.Count(r.Packs, "pack"), r.Signer)
	return nil
}
