package author

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

func newSign(a *app) *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use:     "sign PLACE",
		Short:   "Sign a pack that is published already",
		GroupID: "author",
		Long: `Sign what is published at PLACE: oci://HOST/REPOSITORY with a tag or digest,
oci-layout:DIR//owner/name, or owner/name@version, which is looked up as install
does. The signature stands beside the pack in its registry, where cosign finds
it, too. Signing twice with the same key changes nothing.

The key is in the file that --key names, or its PEM text in SKILLPM_SIGNING_KEY;
SKILLPM_SIGNING_PASSWORD opens one that is encrypted. Look at what you sign: a tag
is signed as what it leads to now. skillpm publish --sign signs what is published.`,
		Example: `  skillpm sign oci://registry.example/acme/deploy:1.4.0 --key acme.key
  skillpm sign acme/deploy@1.4.0 --key acme.key`,
		Args:              console.Need(1, 1, "one PLACE"),
		ValidArgsFunction: a.CompletePacks,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := a.SigningKey(keyFile)
			if err != nil {
				return err
			}
			c, err := a.Author()
			if err != nil {
				return err
			}
			r, err := c.Sign(cmd.Context(), args[0], key)
			if err != nil {
				return err
			}
			a.Warnings(r.Warnings)
			if r.Unnamed {
				a.Warn("%s does not say which pack and version it is, as what skillpm publishes does: who requires "+
					"signatures refuses it, signed or not", r.Reference)
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			if r.Existed {
				a.Note("the key %s had signed it already", r.Signer)
			} else {
				a.Note("signed with the key %s", r.Signer)
			}
			return console.Table(a.Stdout, [][]string{{r.Reference}})
		},
	}
	cmd.Flags().StringVar(&keyFile, "key", "", "sign with the private key in `FILE`")
	return cmd
}
