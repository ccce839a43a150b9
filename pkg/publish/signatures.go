package publish

import (
	"bytes"
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// SignaturesReport is the result of [Client.Signatures].
type SignaturesReport struct {
	Reference string      `json:"reference"` // pinned
	Digest    string      `json:"digest"`    // the manifest's digest, or the commit
	Trusted   int         `json:"trusted"`   // how many keys and identities were tried
	Signed    bool        `json:"signed"`    // a trusted key or identity signed it
	Found     []Statement `json:"found"`
}

// Statement is a signature or an attestation about an artifact.
type Statement struct {
	Kind          string           `json:"kind"`                    // signature, provenance, sbom, tests, tag or other
	Digest        string           `json:"digest,omitempty"`        // of the artifact that contains the statement
	Type          string           `json:"type,omitempty"`          // its artifact type
	PredicateType string           `json:"predicateType,omitempty"` // the type of the predicate
	Verified      bool             `json:"verified"`                // a trusted signer made it about this artifact
	Signer        string           `json:"signer,omitempty"`        // the signer as in a lockfile; "" if not verified
	Claims        string           `json:"claims,omitempty"`        // the signer that it claims, unverified
	Problem       string           `json:"problem,omitempty"`       // why verification failed
	Source        *StatementSource `json:"source,omitempty"`        // of provenance
	Tests         *skillpm.Tests   `json:"tests,omitempty"`         // of test results
}

// StatementSource is the origin of an artifact according to its provenance.
type StatementSource struct {
	Repository string `json:"repository,omitempty"`
	Ref        string `json:"ref,omitempty"`
	Commit     string `json:"commit,omitempty"`
	Builder    string `json:"builder,omitempty"`
	Run        string `json:"run,omitempty"`
}

// Signatures returns the statements about a published artifact, which reference names by its source or as
// owner/name@version. It verifies them with the user's trusted signers, the publishers in settings, and the keys in
// files.
func (c *Client) Signatures(ctx context.Context, reference string, keys []string) (*SignaturesReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	w, err := c.TrustedSigners(keys)
	if err != nil {
		return nil, err
	}
	p, err := c.findPublished(ctx, reference)
	if err != nil {
		return nil, err
	}
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	k := sources.Verifier(false)
	if p.Ref.Kind == pack.KindGit {
		if len(w.AllowedSigners) == 0 {
			return tagSignature(ctx, sources.Git(), p)
		}
		return tagSignatures(ctx, k, p, w)
	}
	digest, err := k.Digest(ctx, p.Ref)
	if err != nil {
		return nil, err
	}
	p.Ref.Digest = digest
	found, err := k.Find(ctx, p.Ref, w.Keys, w.Identities)
	if err != nil {
		return nil, err
	}
	r := &SignaturesReport{
		Reference: p.Ref.String(), Digest: digest, Trusted: len(w.Keys) + len(w.Identities),
		Found: []Statement{},
	}
	for _, f := range found {
		r.Found = append(r.Found, statement(f))
		r.Signed = r.Signed || f.Verified && f.Kind == trust.KindSignature
	}
	return r, nil
}

func statement(f trust.Found) Statement {
	s := Statement{
		Kind: string(f.Kind), Digest: f.Digest, Type: f.Type, PredicateType: f.PredicateType, Verified: f.Verified,
		Signer: f.Key + f.Identity, Claims: f.Claims, Problem: f.Problem,
	}
	if f.Source != (trust.Source{}) {
		source := StatementSource(f.Source)
		s.Source = &source
	}
	if f.Tests != nil {
		tests := skillpm.TestsOf(f)
		s.Tests = &tests
	}
	return s
}

// tagSignature reports whether the git tag of a pack has a signature. It does not verify it.
func tagSignature(ctx context.Context, g *git.Client, p *pack.Pack) (*SignaturesReport, error) {
	r := &SignaturesReport{Reference: p.Ref.String(), Digest: p.Ref.Digest, Found: []Statement{}}
	ref := p.Ref
	if ref.Rev == "" {
		ref.Constraint = p.Version
	}
	_, signature, _, err := g.SignedTag(ctx, ref)
	if err != nil && diag.CodeOf(err) != diag.NotFound {
		return nil, err
	}
	if len(signature) > 0 {
		claims := "a GPG or X.509 key"
		if bytes.HasPrefix(signature, []byte("-----BEGIN SSH SIGNATURE-----")) {
			claims = "an SSH key"
		}
		r.Found = append(r.Found, Statement{
			Kind: "tag", PredicateType: sign.NamespaceGit, Claims: claims,
			Problem: "no key is configured to verify the signature",
		})
	}
	return r, nil
}

// tagSignatures verifies the signature of a pack's git tag.
func tagSignatures(ctx context.Context, k *trust.Verifier, p *pack.Pack, w trust.Requirement) (*SignaturesReport,
	error,
) {
	r := &SignaturesReport{
		Reference: p.Ref.String(), Digest: p.Ref.Digest, Trusted: len(w.AllowedSigners),
		Found: []Statement{},
	}
	signers, err := k.Signers(ctx, p, nil, trust.Requirement{AllowedSigners: w.AllowedSigners, Threshold: 1})
	if diag.CodeOf(err) == diag.Remote || ctx.Err() != nil {
		return nil, err
	}
	s := Statement{Kind: "tag", PredicateType: sign.NamespaceGit, Verified: err == nil}
	if err != nil {
		s.Problem = err.Error()
	}
	s.Signer = slices.Concat(signers, []string{""})[0]
	r.Found, r.Signed = append(r.Found, s), err == nil
	return r, nil
}
