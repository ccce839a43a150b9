package author

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

func newSign(a *app) *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use:   "sign PACK",
		Short: "Sign a published pack",
		Long: `PACK is oci://REGISTRY/REPOSITORY with a tag or digest, oci-layout:DIR//owner/name, or
owner/name@version, which skillpm looks up like "skillpm install". The registry stores
the signature next to the pack, where cosign finds the signature, too. If the signer has
already signed the pack, the command changes nothing.

Pass the private key with --signing-key, or as PEM text in SKILLPM_SIGNING_KEY.
SKILLPM_SIGNING_PASSWORD decrypts the key. Without a key, skillpm-keyless signs with the
identity of the job of GitHub Actions or GitLab CI. If PACK has a tag, skillpm signs the version
that the tag refers to now. "skillpm publish --sign" publishes and signs a pack.`,
		Example: `  skillpm sign acme/deploy@1.4.0 --signing-key acme.key
  skillpm sign oci://registry.example/acme/deploy:1.4.0 --signing-key acme.key
  skillpm sign acme/deploy@1.4.0  # with the key in SKILLPM_SIGNING_KEY`,
		Args:              console.Need(1, 1, "one PACK"),
		ValidArgsFunction: a.CompletePacks,
		RunE: func(cmd *cobra.Command, args []string) error {
			signer, err := a.Signer(keyFile)
			if err != nil {
				return err
			}
			c, err := a.Author()
			if err != nil {
				return err
			}
			r, err := c.Sign(cmd.Context(), args[0], signer)
			if err != nil {
				return err
			}
			a.Warnings(r.Warnings)
			if r.Unnamed {
				a.Warn("policies that require signatures deny %s: the artifact does not record its pack and version, "+
					"because skillpm did not publish it", r.Reference)
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			if r.Existed {
				a.Note("Already signed with %s.", console.SignerText(r.Signer))
			} else {
				a.Note("Signed with %s.", console.SignerText(r.Signer))
			}
			return console.Table(a.Stdout, [][]string{{r.Reference}})
		},
	}
	cmd.Flags().StringVar(&keyFile, "signing-key", "", "sign with the private key in `FILE`")
	return cmd
}
