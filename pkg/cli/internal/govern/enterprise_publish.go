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
		Short: "Publish a signed fleet list",
		Long: `DIR (default: this directory) contains the list: skillpm.yaml, skillpm.lock, and optionally
policy.yaml with its keys. "skillpm install" writes skillpm.lock. The command does the same
checks as a machine that syncs. It signs the list and publishes it to an OCI registry. Equal lists have equal
digests. A published version never changes.

The version of the list is in skillpm.yaml or --pack-version. If the list is in a git
repository, you can also sign a tag instead of publishing: git tag -s v1.4.0.`,
		Example: `  skillpm enterprise publish --to oci://ghcr.io/acme/fleet --dry-run
  skillpm enterprise publish --to oci://ghcr.io/acme/fleet --signing-key my.key
  skillpm enterprise publish ./fleet --to oci://ghcr.io/acme/fleet`,
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.To == "" {
				return diag.Errorf(diag.Usage, "skillpm enterprise publish needs --to").
					WithHint("use --to oci://REGISTRY/REPOSITORY")
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
	f.StringVar(&o.To, "to", "", "publish to `oci://REGISTRY/REPOSITORY` (required)")
	f.StringVar(&o.Version, "pack-version", "", "publish as `VERSION` instead of the version in skillpm.yaml")
	f.StringVar(&keyFile, "signing-key", "", "sign with the private key in `FILE`")
	f.BoolVar(&o.DryRun, "dry-run", false, "check the list without publishing it")
	return cmd
}

func (a *app) printPublishedList(r *skillpm.PublishListReport) error {
	a.Warnings(r.Warnings)
	switch {
	case a.JSON:
		return a.PrintJSON(r)
	case r.DryRun:
		a.Note("Dry run: would publish %s with %s.", r.Reference, textx.Count(r.Packs, "pack"))
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s %s\n", r.Reference, r.Digest)
	done := "Published"
	if r.Existed {
		done = "Already published"
	}
	a.Note("%s a list of %s, signed with %s.", done, textx.Count(r.Packs, "pack"), r.Signer)
	return nil
}
