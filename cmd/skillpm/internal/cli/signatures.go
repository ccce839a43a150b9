package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/author"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/provider"
)

func newSignatures(a *app) *cobra.Command {
	var keys []string
	cmd := &cobra.Command{
		Use:     "signatures PLACE",
		Short:   "List who signed a pack, where it is from and what is in it",
		GroupID: "author",
		Long: `List the signatures, the provenance and the list of contents that stand beside
what is published at PLACE: oci://HOST/REPOSITORY, oci-layout:DIR//owner/name,
owner/name@version, or a git repository, whose tags are signed.

Each is checked with the public keys in --key, and those that trusted-keys in the
user's settings names. What is not verified says who claims to have made it, which
proves nothing. With --key it is an error (exit code 7) if none of the keys signed.`,
		Example: `  skillpm signatures oci://registry.example/acme/deploy:1.4.0
  skillpm signatures acme/deploy@1.4.0 --key acme.pub
  skillpm signatures github.com/acme/skills#v1.4.0 --key allowed_signers`,
		Args:              need(1, 1, "one PLACE"),
		ValidArgsFunction: a.completePacks,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.author()
			if err != nil {
				return err
			}
			r, err := c.Signatures(cmd.Context(), args[0], keys)
			if err != nil {
				return err
			}
			return a.printSignatures(r, len(keys) > 0)
		},
	}
	cmd.Flags().StringArrayVar(&keys, "key", nil, "check with the public key, or the allowed signers, in `FILE`; may be repeated")
	return cmd
}

func (a *app) printSignatures(r *author.SignaturesReport, must bool) error {
	if a.json {
		if err := a.printJSON(r); err != nil || r.Signed || !must {
			return err
		}
		return reported{code: diag.Denied}
	}
	rows := make([][]string, 0, len(r.Found))
	for _, s := range r.Found {
		state, by := "not verified", s.Problem
		if s.Verified {
			state, by = "verified", provider.Fingerprint(s.Signer)
		}
		rows = append(rows, []string{s.Kind, state, by + from(s.Source)})
	}
	if err := table(a.Stdout, rows); err != nil {
		return err
	}
	a.note("%s: %s", r.Place, plural(len(r.Found), "statement"))
	if r.Trusted == 0 && len(r.Found) > 0 {
		a.note("nothing was checked: name a public key with --key FILE")
	}
	if must && !r.Signed {
		return diag.Errorf(diag.Denied, "none of the keys signed %s", r.Place)
	}
	return nil
}

// from says where a pack comes from, as its provenance says.
func from(s *author.StatementSource) string {
	if s == nil {
		return ""
	}
	text := ""
	for _, word := range []string{s.Repository, s.Ref, s.Commit} {
		if word != "" {
			text += " " + word
		}
	}
	if text != "" {
		text = "; from" + text
	}
	if s.Builder != "" {
		text += "; by " + s.Builder
	}
	return strings.TrimSpace(text)
}
