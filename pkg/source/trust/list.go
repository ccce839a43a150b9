package trust

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// Kind is the type of an attached artifact.
type Kind string

// Kinds of artifacts.
const (
	KindSignature  Kind = "signature"
	KindProvenance Kind = "provenance"
	KindSBOM       Kind = "sbom"
	KindTests      Kind = "tests"
	KindOther      Kind = "other"
)

// Found is an attached artifact and the result of its verification.
type Found struct {
	Kind          Kind
	Digest        string            // of the artifact
	Type          string            // the artifact type
	PredicateType string            // "" if it is not a statement
	Key           string            // ID of the key that made it; "" if not proven
	Claims        string            // fingerprint of the key, or issuer and subject that it claims; "certificate" if unreadable
	Identity      string            // ID of the identity; "" if not proven
	Verified      bool              // a given key or identity made it, for this artifact
	Problem       string            // why it is not verified
	Source        Source            // the source that provenance states
	Tests         *sign.TestSummary // the result that a statement about tests states; nil if it is unreadable
}

// notSigned is the problem of an attestation without a signature.
const notSigned = "the attestation is not signed"

// Source is the origin that provenance states for an artifact.
type Source struct {
	Repository, Ref, Commit, Builder, Run string
}

// Find returns the artifacts attached to the manifest that ref is pinned to: signatures, provenance, SBOMs, test
// results, and others. Within each group, verified ones come first.
func (k *Verifier) Find(ctx context.Context, ref pack.Ref, keys []*sign.PublicKey, identities []Identity) ([]Found,
	error,
) {
	everything := func(*oci.Artifact) bool { return true }
	return k.find(ctx, ref, Requirement{Keys: keys, Identities: identities}, everything, sign.MaxBundle)
}

// FindTests is [Verifier.Find] for test results only. It reads only the first ones, and none that are large.
func (k *Verifier) FindTests(ctx context.Context, ref pack.Ref, keys []*sign.PublicKey, identities []Identity) ([]Found,
	error,
) {
	n := 0
	found, err := k.find(ctx, ref, Requirement{Keys: keys, Identities: identities}, func(a *oci.Artifact) bool {
		if a.Type == sign.MediaTypeStatement ||
			a.Type == sign.MediaTypeBundle && a.Annotations[annotationPredicate] == sign.PredicateTests {
			n++
			return n <= maxTestResults
		}
		return false
	}, maxStatement)
	return slices.DeleteFunc(found, func(f Found) bool { return f.Kind != KindTests }), err
}

// find implements [Verifier.Find] for the artifacts that match. Bundles larger than limit are unreadable.
func (k *Verifier) find(ctx context.Context, ref pack.Ref, w Requirement, match func(*oci.Artifact) bool, limit int64,
) ([]Found, error) {
	if k.options.OCI == nil {
		return nil, errNoRegistry
	}
	all, err := k.options.OCI.Referrers(ctx, ref, "")
	if err != nil {
		return nil, err
	}
	var found []Found
	for _, a := range all[:min(len(all), maxReferrers)] {
		if !match(a) {
			continue
		}
		f := Found{Kind: KindOther, Digest: a.Digest, Type: a.Type}
		switch a.Type {
		case sign.MediaTypeBundle:
			if err := k.describe(ctx, ref, a, w, limit, &f); err != nil {
				return nil, err
			}
		case sign.MediaTypeStatement:
			if err := k.describeStatement(ctx, ref, a, &f); err != nil {
				return nil, err
			}
		case sign.MediaTypeSBOM:
			f.Kind, f.Problem = KindSBOM, notSigned
		case oci.MediaTypeProvenance:
			stated := a.Provenance()
			f.Kind, f.Problem = KindProvenance, notSigned
			f.Source = Source{Repository: stated.Source, Commit: stated.Revision}
		default:
			f.Problem = "the attestation has an unknown type"
		}
		found = append(found, f)
	}
	kinds := []Kind{KindSignature, KindProvenance, KindSBOM, KindTests, KindOther}
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(a.Problem, b.Problem), strings.Compare(a.Digest, b.Digest))
	})
	return found, nil
}

// describe fills in f from a bundle. It returns an error only if the registry cannot be read.
func (k *Verifier) describe(ctx context.Context, ref pack.Ref, a *oci.Artifact, w Requirement, limit int64, f *Found,
) error {
	b, err := k.bundleOf(ctx, ref, a, limit)
	if diag.CodeOf(err) == diag.Remote || ctx.Err() != nil {
		return err
	}
	var env *sign.Envelope
	if err == nil {
		env, err = sign.ParseBundle(b)
	}
	if err != nil {
		f.Problem = err.Error()
		return nil
	}
	f.state(env.Claim)
	f.Claims = fingerprint(env.Hint)
	if env.Keyless {
		f.Claims = "certificate"
		if id := env.Identity; id.Subject != "" {
			f.Claims = id.Issuer + " " + id.Subject
		}
	}
	who, _, err := k.signer(env, b, ref.Digest, w)
	switch {
	case err != nil:
		f.Problem = err.Error()
	case env.Keyless:
		f.Identity, f.Verified = who, true
	default:
		f.Key, f.Verified = who, true
	}
	return nil
}

// state records what a statement states.
func (f *Found) state(c *sign.Claim) {
	f.PredicateType, f.Kind = c.PredicateType, kindOf(c.PredicateType)
	switch f.Kind {
	case KindProvenance:
		f.Source = sourceOf(c.Predicate)
	case KindTests:
		f.Tests, _ = sign.ParseTestResult(c.Predicate) // of an unreadable result, only the kind is known
	}
}

// describeStatement fills in f from a statement that is not signed. Only test results are attached so. It returns an
// error only if the registry cannot be read.
func (k *Verifier) describeStatement(ctx context.Context, ref pack.Ref, a *oci.Artifact, f *Found) error {
	f.Problem = notSigned
	if len(a.Blobs) != 1 || a.Blobs[0].MediaType != sign.MediaTypeStatement {
		return nil
	}
	data, err := k.options.OCI.ReadBlob(ctx, ref, a.Blobs[0], maxStatement)
	if diag.CodeOf(err) == diag.Remote || ctx.Err() != nil {
		return err
	}
	if err != nil {
		f.Problem = err.Error()
		return nil
	}
	c, err := sign.ParseStatement(data)
	switch {
	case err != nil:
		f.Problem = err.Error()
	case !slices.Contains(c.Subjects, ref.Digest):
		f.Problem = (&sign.SubjectError{Want: ref.Digest, Got: c.Subjects}).Error()
	case kindOf(c.PredicateType) == KindTests:
		f.state(c)
		f.PredicateType = "" // as for all artifacts without a signature
	}
	return nil
}

func kindOf(predicateType string) Kind {
	switch predicateType {
	case sign.PredicateSignature:
		return KindSignature
	case sign.PredicateProvenance:
		return KindProvenance
	case sign.PredicateSBOM:
		return KindSBOM
	case sign.PredicateTests:
		return KindTests
	}
	return KindOther
}

// sourceOf reads the source from SLSA provenance. Missing fields stay empty.
func sourceOf(predicate json.RawMessage) (s Source) {
	var p struct {
		BuildDefinition struct {
			ExternalParameters struct {
				Source struct{ Repository, Ref string }
			}
			ResolvedDependencies []struct {
				URI    string
				Digest struct{ GitCommit string }
			}
		}
		RunDetails struct {
			Builder  struct{ ID string }
			Metadata struct{ InvocationID string }
		}
	}
	if json.Unmarshal(predicate, &p) != nil {
		return s
	}
	s.Repository, s.Ref = p.BuildDefinition.ExternalParameters.Source.Repository,
		p.BuildDefinition.ExternalParameters.Source.Ref
	s.Builder, s.Run = p.RunDetails.Builder.ID, p.RunDetails.Metadata.InvocationID
	for _, d := range p.BuildDefinition.ResolvedDependencies {
		if d.Digest.GitCommit != "" {
			s.Commit = d.Digest.GitCommit
			if s.Repository == "" {
				s.Repository = d.URI
			}
			break
		}
	}
	return s
}
