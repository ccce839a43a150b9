package main

import (
	"encoding/hex"
	"strings"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/sign"
)

// verifier checks signatures with sigstore-go.
type verifier struct{ *verify.Verifier }

// open returns a verifier that trusts the certificate authorities, transparency logs and timestamp authorities of a
// trusted_root.json. All that the file names is required: a signature must be logged where there is a log, somebody
// must say when it was made, and its certificate must be logged where there is a log for certificates.
func open(trustedRoot []byte) (sign.KeylessVerifier, error) {
	tr, err := root.NewTrustedRootFromJSON(trustedRoot)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "invalid trusted_root.json: %v", err).
			WithHint("create the file with: cosign trusted-root create")
	}
	options := []verify.VerifierOption{verify.WithObserverTimestamps(1), verify.WithoutStatementPredicate()}
	if len(tr.RekorLogs()) > 0 {
		options = append(options, verify.WithTransparencyLog(1))
	}
	if len(tr.CTLogs()) > 0 {
		options = append(options, verify.WithSignedCertificateTimestamps(1))
	}
	v, err := verify.NewVerifier(tr, options...)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "invalid trusted_root.json: %v", err)
	}
	return verifier{v}, nil
}

// Verify implements [sign.KeylessVerifier].
func (v verifier) Verify(data []byte, digest string, wanted []sign.Identity) (sign.Identity, error) {
	sum, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil || len(sum) != 32 {
		return sign.Identity{}, diag.Errorf(diag.Invalid, "invalid SHA-256 digest %q", digest)
	}
	var b bundle.Bundle
	if err := b.UnmarshalJSON(data); err != nil {
		return sign.Identity{}, diag.Errorf(diag.Invalid, "invalid signature bundle: %v", err)
	}
	options, err := identities(wanted)
	if err != nil {
		return sign.Identity{}, err
	}
	result, err := v.Verifier.Verify(&b, verify.NewPolicy(verify.WithArtifactDigest("sha256", sum), options...))
	if err != nil {
		return sign.Identity{}, diag.Errorf(diag.Denied,
			"cannot verify the keyless signature: %v", err)
	}
	certificate := result.Signature.Certificate
	return sign.Identity{Issuer: certificate.Issuer, Subject: certificate.SubjectAlternativeName}, nil
}

// identities returns the policy that one of those wanted got the certificate.
func identities(wanted []sign.Identity) ([]verify.PolicyOption, error) {
	var options []verify.PolicyOption
	for _, id := range wanted {
		exact, pattern := id.Subject, ""
		if strings.HasPrefix(exact, "^") {
			exact, pattern = "", exact
		}
		if id.Issuer == "" || id.Subject == "" {
			return nil, diag.Errorf(diag.Invalid, "an identity requires an issuer and a subject")
		}
		want, err := verify.NewShortCertificateIdentity(id.Issuer, "", exact, pattern)
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "invalid identity %s: %v", id.Subject, err)
		}
		options = append(options, verify.WithCertificateIdentity(want))
	}
	if len(options) == 0 {
		return nil, diag.Errorf(diag.Denied, "no trusted identity is configured")
	}
	return options, nil
}
