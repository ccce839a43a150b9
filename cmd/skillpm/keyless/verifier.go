package main

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
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
	policy := verify.NewPolicy(verify.WithArtifactDigest("sha256", sum), verify.WithoutIdentitiesUnsafe())
	result, err := v.Verifier.Verify(&b, policy)
	if err != nil {
		return sign.Identity{}, diag.Errorf(diag.Denied,
			"cannot verify the keyless signature: %v", err)
	}
	if result.Signature == nil || result.Signature.Certificate == nil {
		return sign.Identity{}, diag.Errorf(diag.Denied, "the keyless signature does not have a certificate")
	}
	if err := checkNames(&b); err != nil {
		return sign.Identity{}, err
	}
	return match(*result.Signature.Certificate, wanted)
}

// checkNames checks that the certificate of a bundle has one subject and one issuer, as Fulcio issues it. The library
// reads the first subject and the last issuer, and other programs may read others.
func checkNames(b *bundle.Bundle) error {
	content, err := b.VerificationContent()
	if err != nil {
		return diag.Errorf(diag.Denied, "cannot read the certificate of the keyless signature: %v", err)
	}
	c := content.Certificate()
	if n := len(c.URIs) + len(c.EmailAddresses) + len(c.DNSNames) + len(c.IPAddresses); n > 1 {
		return diag.Errorf(diag.Denied, "the certificate of the keyless signature has %d subjects instead of one", n)
	}
	isURL := func(s string) bool { return strings.Contains(s, "://") }
	if slices.ContainsFunc(c.EmailAddresses, isURL) {
		return diag.Errorf(diag.Denied, "the certificate of the keyless signature has a URL as an email address")
	}
	var older, newer string
	for _, e := range c.Extensions {
		switch {
		case e.Id.Equal(certificate.OIDIssuer):
			older = string(e.Value)
		case e.Id.Equal(certificate.OIDIssuerV2):
			err = certificate.ParseDERString(e.Value, &newer)
		}
	}
	if err != nil || older != "" && newer != "" && older != newer {
		return diag.Errorf(diag.Denied, "the certificate of the keyless signature has several issuers")
	}
	return nil
}

// match returns the owner of a verified certificate, if it is one of those wanted.
func match(c certificate.Summary, wanted []sign.Identity) (sign.Identity, error) {
	owner, err := ownerOf(c)
	if err != nil {
		return sign.Identity{}, err
	}
	if len(wanted) == 0 {
		return sign.Identity{}, diag.Errorf(diag.Denied, "no trusted identity is configured")
	}
	var names []string
	for _, id := range wanted {
		exact, pattern := id.Subject, ""
		if strings.HasPrefix(exact, "^") {
			exact, pattern = "", exact
		}
		if id.Issuer == "" || id.Subject == "" {
			return sign.Identity{}, diag.Errorf(diag.Invalid, "an identity requires an issuer and a subject")
		}
		want, err := verify.NewShortCertificateIdentity(id.Issuer, "", exact, pattern)
		if err != nil {
			return sign.Identity{}, diag.Errorf(diag.Invalid, "invalid identity %s: %v", id.Subject, err)
		}
		if want.SourceRepositoryURI = id.Repository; want.Verify(c) == nil {
			return owner, nil
		}
		names = append(names, describe(id))
	}
	return sign.Identity{}, diag.Errorf(diag.Denied, "the signature is from %s, not from %s", describe(owner),
		strings.Join(names, " or "))
}

// ownerOf returns the owner of a certificate. A lockfile must be able to record it.
func ownerOf(c certificate.Summary) (sign.Identity, error) {
	id := sign.Identity{Issuer: c.Issuer, Subject: c.SubjectAlternativeName, Repository: c.SourceRepositoryURI}
	for _, s := range []string{id.Issuer, id.Subject, id.Repository} {
		if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return sign.Identity{}, diag.Errorf(diag.Denied,
				"the certificate contains a space or a character outside ASCII: %q", s)
		}
	}
	return id, nil
}

// describe returns an identity for messages.
func describe(id sign.Identity) string {
	text := id.Subject + " (issuer " + id.Issuer
	if id.Repository != "" {
		text += ", repository " + id.Repository
	}
	return text + ")"
}
