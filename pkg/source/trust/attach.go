package trust

import (
	"context"
	"errors"
	"maps"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// Attachments returns an [oci.PushOptions.Attach] function. It creates the artifacts that are pushed before the pack's
// tag: the signature and the provenance if there is a signer, and the SBOM, signed if there is a signer. Any of the
// three may be nil. A key gives the same pack the same artifacts; [Verifier.Made] returns what an identity has signed.
func Attachments(signer sign.Signer, provenance *sign.Provenance, sbom *sign.SBOM) func(ctx context.Context,
	subject oci.Pushed, manifest []byte) ([]oci.Artifact, error) {
	return func(ctx context.Context, subject oci.Pushed, _ []byte) ([]oci.Artifact, error) {
		var all []oci.Artifact
		if sbom != nil {
			more, err := sbomArtifacts(ctx, signer, sbom, subject.Digest)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		if signer == nil {
			return all, nil
		}
		if provenance != nil {
			statement, err := provenance.Statement(subject.Digest)
			if err != nil {
				return nil, err
			}
			a, err := bundleArtifact(ctx, signer, statement, sign.PredicateProvenance, subject.Digest)
			if err != nil {
				return nil, err
			}
			if !provenance.Dirty {
				maps.Copy(a.Annotations,
					oci.Provenance{Source: provenance.Repository, Revision: provenance.Commit}.Annotations())
			}
			all = append(all, a)
		}
		a, err := signature(ctx, signer, subject.Digest)
		return append(all, a), err
	}
}

// signature returns the artifact with a signature of a manifest.
func signature(ctx context.Context, signer sign.Signer, digest string) (oci.Artifact, error) {
	statement, err := sign.Statement("", digest, sign.PredicateSignature, nil)
	if err != nil {
		return oci.Artifact{}, err
	}
	return bundleArtifact(ctx, signer, statement, sign.PredicateSignature, digest)
}

// bundleArtifact signs a statement and wraps the bundle as cosign does.
func bundleArtifact(ctx context.Context, signer sign.Signer, statement []byte, predicateType, digest string,
) (oci.Artifact, error) {
	b, err := signer.Bundle(ctx, statement)
	if err != nil {
		return oci.Artifact{}, err
	}
	return oci.Artifact{
		Type: sign.MediaTypeBundle, Subject: digest,
		Annotations: map[string]string{annotationContent: contentDSSE, annotationPredicate: predicateType},
		Blobs:       []oci.Blob{{MediaType: sign.MediaTypeBundle, Data: b}},
	}, nil
}

// TestArtifact returns the artifact that states the result of tests about a pack's manifest: a bundle, or a statement
// without a signature if there is no signer.
func TestArtifact(ctx context.Context, signer sign.Signer, r *sign.TestResult, packName, digest string) (oci.Artifact,
	error,
) {
	statement, err := r.Statement(packName, digest)
	if err != nil {
		return oci.Artifact{}, err
	}
	if signer != nil {
		return bundleArtifact(ctx, signer, statement, sign.PredicateTests, digest)
	}
	return oci.Artifact{
		Type: sign.MediaTypeStatement, Subject: digest,
		Annotations: map[string]string{annotationStatement: sign.PredicateTests},
		Blobs:       []oci.Blob{{MediaType: sign.MediaTypeStatement, Data: statement}},
	}, nil
}

// sbomArtifacts returns the SBOM of a pack and its signed form.
func sbomArtifacts(ctx context.Context, signer sign.Signer, sbom *sign.SBOM, digest string) ([]oci.Artifact, error) {
	text, err := sbom.Encode()
	if err != nil {
		return nil, err
	}
	all := []oci.Artifact{{
		Type: sign.MediaTypeSBOM, Subject: digest,
		Blobs: []oci.Blob{{MediaType: sign.MediaTypeSBOM, Data: text}},
	}}
	if signer == nil {
		return all, nil
	}
	statement, err := sign.Statement(sbom.Pack, digest, sign.PredicateSBOM, rawJSON(text))
	if err != nil {
		return nil, err
	}
	a, err := bundleArtifact(ctx, signer, statement, sign.PredicateSBOM, digest)
	return append(all, a), err
}

// rawJSON is JSON that is embedded unchanged.
type rawJSON []byte

// MarshalJSON returns the JSON.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// SBOMOf returns the SBOM of a release.
func SBOMOf(rel oci.Release, trees []bundle.Tree) *sign.SBOM {
	b := &sign.SBOM{
		Pack: rel.ID.String(), Version: rel.Version, Description: rel.Description, License: rel.License,
		Requires: make(map[string]string, len(rel.Dependencies)),
	}
	for _, d := range rel.Dependencies {
		b.Requires[d.ID.String()] = d.Constraint
	}
	meta := make(map[string]oci.SkillMeta, len(rel.Skills))
	for _, m := range rel.Skills {
		meta[m.Name] = m
	}
	for _, t := range trees {
		m := meta[t.Name]
		s := sign.SBOMSkill{Name: t.Name, Description: m.Description, License: m.License, Tree: t.Inventory.Digest()}
		for _, e := range t.Inventory {
			s.Files = append(s.Files, sign.SBOMFile{Path: e.Path, SHA256: e.SHA256})
		}
		b.Skills = append(b.Skills, s)
	}
	return b
}

// Signed is the result of [Verifier.Sign].
type Signed struct {
	Digest    string // of the signed manifest
	Signature string // digest of the artifact with the signature
	Existed   bool   // the signer had signed it before; nothing was written
	// the manifest does not name its pack and version, so no requirement accepts the signature; see [UnnamedError]
	Unnamed bool
}

// Sign signs a published artifact, and attaches provenance unless it is nil. It signs the manifest that ref is pinned
// to, or else the one that its tag names.
func (k *Verifier) Sign(ctx context.Context, ref pack.Ref, signer sign.Signer, provenance *sign.Provenance) (Signed,
	error,
) {
	manifest, digest, err := k.manifest(ctx, ref)
	if err != nil {
		return Signed{}, err
	}
	subject, err := packNameOf(manifest, &pack.Pack{Ref: ref})
	if err != nil {
		return Signed{}, err
	}
	ref.Digest = digest
	made, err := k.Made(ctx, ref, signer)
	if err != nil {
		return Signed{}, err
	}
	if signature := made[KindSignature]; signature != "" {
		return Signed{Digest: digest, Signature: signature, Existed: true, Unnamed: subject == nil}, nil
	}
	artifacts, err := Attachments(signer, provenance, nil)(ctx, oci.Pushed{Digest: digest}, nil)
	if err != nil {
		return Signed{}, err
	}
	result := Signed{Digest: digest, Unnamed: subject == nil}
	for _, a := range artifacts {
		if result.Signature, err = k.options.OCI.PutArtifact(ctx, ref, a); err != nil {
			return Signed{}, err
		}
	}
	return result, nil
}

// Digest returns the digest of the manifest that ref is pinned to, or else of the one that its tag names now.
func (k *Verifier) Digest(ctx context.Context, ref pack.Ref) (string, error) {
	_, digest, err := k.manifest(ctx, ref)
	return digest, err
}

// manifest returns the manifest of [Verifier.Digest], and its digest.
func (k *Verifier) manifest(ctx context.Context, ref pack.Ref) ([]byte, string, error) {
	manifest, _, err := k.options.OCI.Manifest(ctx, ref)
	if err != nil {
		return nil, "", err
	}
	digest := "sha256:" + textx.SHA256(manifest)
	if ref.Digest != "" && ref.Digest != digest {
		return nil, "", &bundle.MismatchError{What: "the OCI manifest", Want: ref.Digest, Got: digest}
	}
	return manifest, digest, nil
}

// Made returns what a signer has attached to the manifest that ref is pinned to: for each kind, the digest of an artifact
// with its signature. Without the authorities that certify identities, the identities that certificates claim count.
// Evaluations are left out, because they are not the result of the pack's own tests.
func (k *Verifier) Made(ctx context.Context, ref pack.Ref, signer sign.Signer) (map[Kind]string, error) {
	id, err := signer.ID(ctx)
	if err != nil {
		return nil, err
	}
	w, err := exactSigner(id)
	if err != nil {
		return nil, err
	}
	found, err := k.Find(ctx, ref, w.Keys, w.Identities)
	if err != nil && !errors.As(err, new(*UnsignedError)) {
		return nil, err
	}
	claimed := ""
	if len(w.Identities) > 0 {
		if _, err := k.verifier(); err != nil {
			claimed = w.Identities[0].Issuer + " " + w.Identities[0].Subject
		}
	}
	made := map[Kind]string{}
	for _, f := range found {
		if f.Tests != nil && f.Tests.Agent != "" {
			continue
		}
		if (f.Verified && f.Key+f.Identity == id || claimed != "" && f.Claims == claimed) && made[f.Kind] == "" {
			made[f.Kind] = f.Digest
		}
	}
	return made, nil
}

var _ Registry = (*oci.Client)(nil)

// errNoRegistry is the error of a verifier without a registry.
var errNoRegistry = diag.Errorf(diag.Internal, "cannot read signatures: no source is configured")
