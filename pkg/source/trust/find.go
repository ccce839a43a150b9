package trust

import (
	"context"
	"encoding/base64"
	"encoding/hex"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// Limits for what a registry may send about one manifest. An attacker with write access could hide signatures among
// others; a signature that is not found does not count.
const (
	maxReferrers = 256
	maxSignature = 1 << 20 // bytes of a bundle with only a signature
	maxEvidence  = 8 << 20 // bytes of all bundles
	maxStatement = 2 << 20 // bytes of a statement that is not signed, or of a bundle with a test result

	maxTestResults = 16
)

const (
	annotationContent   = "dev.sigstore.bundle.content"
	annotationPredicate = "dev.sigstore.bundle.predicateType"
	contentDSSE         = "dsse-envelope"

	annotationStatement = "in-toto.io/predicate-type" // as BuildKit writes it
)

// fetch reads a manifest and its signatures from the registry.
func (k *Verifier) fetch(ctx context.Context, ref pack.Ref) (*evidence, error) {
	manifest, _, err := k.options.OCI.Manifest(ctx, ref)
	if err != nil {
		return nil, err
	}
	referrers, err := k.options.OCI.Referrers(ctx, ref, sign.MediaTypeBundle)
	if err != nil {
		return nil, err
	}
	e := &evidence{Manifest: manifest}
	total := 0
	for _, a := range referrers[:min(len(referrers), maxReferrers)] {
		if p := a.Annotations[annotationPredicate]; p != "" && p != sign.PredicateSignature {
			continue
		}
		b, err := k.bundleOf(ctx, ref, a, maxSignature)
		if diag.CodeOf(err) == diag.Remote || ctx.Err() != nil {
			return nil, err
		}
		if total += len(b); err != nil || total > maxEvidence {
			continue // an unreadable bundle is not a signature
		}
		e.Bundles = append(e.Bundles, b)
	}
	return e, nil
}

// bundleOf reads the bundle in an artifact.
func (k *Verifier) bundleOf(ctx context.Context, ref pack.Ref, a *oci.Artifact, limit int64) ([]byte, error) {
	switch {
	case len(a.Blobs) != 1:
		return nil, diag.Errorf(diag.Invalid, "%s is not a signature: it has %d layers instead of one", a.Digest,
			len(a.Blobs))
	case a.Blobs[0].MediaType != sign.MediaTypeBundle:
		return nil, diag.Errorf(diag.Invalid, "%s is not a signature: its layer has the type %q", a.Digest,
			a.Blobs[0].MediaType)
	}
	return k.options.OCI.ReadBlob(ctx, ref, a.Blobs[0], limit)
}

// fingerprint returns the key fingerprint in a bundle's hint, or "" if the hint is something else.
func fingerprint(hint string) string {
	sum, err := base64.StdEncoding.DecodeString(hint)
	if err != nil || len(sum) != 32 {
		return ""
	}
	return "sha256:" + hex.EncodeToString(sum)
}
