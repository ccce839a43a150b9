package install

import (
	"context"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// signatures lists the signatures of a pack.
func (a *app) signatures(ctx context.Context, reference string, keys []string) error {
	c, err := a.Author()
	if err != nil {
		return err
	}
	r, err := c.Signatures(ctx, reference, keys)
	if err != nil {
		return err
	}
	return a.printSignatures(r, len(keys) > 0)
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
		facts := append([]string{signer}, sourceFacts(s.Source)...)
		if s.Tests != nil {
			facts = append(facts, testsText(*s.Tests))
		}
		facts = slices.DeleteFunc(facts, func(fact string) bool { return fact == "" })
		rows = append(rows, []string{s.Kind, state, strings.Join(facts, "; ")})
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
		a.Note("%s does not have signatures.", r.Reference)
	case r.Trusted == 0:
		a.Note("skillpm did not verify %s, because no key is trusted. Specify a public key with --key FILE.",
			r.Reference)
	case verified == 0:
		a.Note("%s does not have a verified signature.", r.Reference)
	default:
		a.Note("%s has %s.", r.Reference, textx.Count(verified, "verified statement"))
	}
	if must && !r.Signed {
		return diag.Errorf(diag.Denied, "none of the keys in --key signed %s", r.Reference)
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
	case (s.Kind == string(trust.KindProvenance) || s.Kind == string(trust.KindTests)) && s.PredicateType == "":
		return "not signed", ""
	case !checked && s.Claims != "":
		return "not checked", "claims to be signed by " + s.Claims
	case !checked:
		return "not checked", s.Problem
	case s.Claims != "" && strings.Contains(s.Problem, s.Claims):
		return "not verified", "claims to be signed by " + s.Claims + ", which is not trusted"
	}
	return "not verified", s.Problem
}

// sourceFacts returns the source and the builder that a provenance states.
func sourceFacts(s *publish.StatementSource) (facts []string) {
	if s == nil {
		return nil
	}
	if text := strings.Join(strings.Fields(s.Repository+" "+s.Ref+" "+s.Commit), " "); text != "" {
		facts = append(facts, "from "+text)
	}
	if s.Builder != "" {
		facts = append(facts, "by "+s.Builder)
	}
	return facts
}
