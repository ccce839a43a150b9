package author

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/source/trust"
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
proves nothing. A list of contents stands there twice, signed and plain for other
programs; the plain one is shown only if none is signed. With --key it is an error
(exit code 7) if none of the keys signed.`,
		Example: `  skillpm signatures oci://registry.example/acme/deploy:1.4.0
  skillpm signatures acme/deploy@1.4.0 --key acme.pub
  skillpm signatures github.com/acme/skills#v1.4.0 --key allowed_signers`,
		Args:              console.Need(1, 1, "one PLACE"),
		ValidArgsFunction: a.CompletePacks,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Author()
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
	cmd.Flags().StringArrayVar(&keys, "key", nil,
		"check with the public key, or the allowed signers, in `FILE`; may be repeated")
	return cmd
}

func (a *app) printSignatures(r *publish.SignaturesReport, must bool) error {
	if a.JSON {
		if err := a.PrintJSON(r); err != nil || r.Signed || !must {
			return err
		}
		return console.Reported{Exit: diag.Denied}
	}
	rows := make([][]string, 0, len(r.Found))
	for _, s := range dedupeSBOM(r.Found) {
		state, signer := statementState(s, r.Trusted > 0)
		rows = append(rows, []string{s.Kind, state, signer + sourceText(s.Source)})
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	verified := 0
	for _, s := range r.Found {
		if s.Verified {
			verified++
		}
	}
	switch {
	case len(r.Found) == 0:
		a.Note("%s: nobody has signed it, or said anything about it", r.Reference)
	case r.Trusted == 0:
		a.Note("%s: nothing was checked: name a public key with --key FILE", r.Reference)
	case verified == 0:
		a.Note("%s: nothing of it is verified", r.Reference)
	default:
		a.Note("%s: verified by those who are trusted: %d", r.Reference, verified)
	}
	if must && !r.Signed {
		return diag.Errorf(diag.Denied, "none of the keys signed %s", r.Reference)
	}
	return nil
}

// dedupeSBOM removes the unsigned SBOM if there is a signed one. The unsigned one is for other programs.
func dedupeSBOM(found []publish.Statement) []publish.Statement {
	isPlainSBOM := func(s publish.Statement) bool { return s.Kind == string(trust.KindSBOM) && s.PredicateType == "" }
	vouched := slices.ContainsFunc(found, func(s publish.Statement) bool {
		return s.Kind == string(trust.KindSBOM) &&
			!isPlainSBOM(s)
	})
	return slices.DeleteFunc(slices.Clone(found), func(s publish.Statement) bool { return vouched && isPlainSBOM(s) })
}

// statementState returns whether a statement is verified, and its signer or claimed signer.
func statementState(s publish.Statement, checked bool) (state, signer string) {
	switch {
	case s.Verified:
		return "verified", trust.Fingerprint(s.Signer)
	case s.Kind == string(trust.KindSBOM) && s.PredicateType == "":
		return "not signed", s.Type
	case !checked && s.Claims != "":
		return "not checked", "says it is by " + s.Claims
	case !checked:
		return "not checked", s.Problem
	case s.Claims != "" && strings.Contains(s.Problem, s.Claims):
		return "not verified", "says it is by " + s.Claims + ", which is not trusted"
	}
	return "not verified", s.Problem
}

// sourceText returns the source that a provenance states.
func sourceText(s *publish.StatementSource) string {
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
