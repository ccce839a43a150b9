package sign

import (
	"crypto/x509"
	"encoding/asn1"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Keyless signatures use a certificate for an identity instead of a key, which Sigstore's Fulcio issues to users and CI
// jobs. The code that makes and verifies them is more than half as large as skillpm, and its dependencies would decide which
// bytes skillpm publishes. So it is a separate program, skillpm-keyless, from the module in cmd/skillpm/keyless
// (docs/adr/0013-keyless-signatures.md). Without it, keyless signatures are refused.

// Identity is what a certificate contains about its owner.
type Identity struct {
	Issuer     string // the https address of the OpenID Connect issuer, exact
	Subject    string // exact, or a regular expression between ^ and $
	Repository string // the https address of the repository of a CI job, exact; "" for any
}

// KeylessVerifier verifies signatures of identities. It needs no network: a bundle contains the proof of its entry in
// the transparency log.
type KeylessVerifier interface {
	// Verify checks that a bundle was signed with a certificate for one of the identities while the certificate was
	// valid, and that its statement is about the digest. It returns the certificate's identity. A signature that does
	// not count has the code [diag.Denied].
	Verify(bundle []byte, digest string, identities []Identity) (Identity, error)
}

// OpenKeyless returns a verifier that trusts only the authorities in a trusted_root.json file.
type OpenKeyless func(trustedRoot []byte) (KeylessVerifier, error)

// KeylessMissing is the [OpenKeyless] of a program that does not verify such signatures. Its error has the code
// [diag.Denied] and names the program that does.
func KeylessMissing([]byte) (KeylessVerifier, error) {
	return nil, diag.Errorf(diag.Denied, "this build of skillpm cannot verify keyless signatures").
		WithHint("use skillpm-keyless of the same release, or trust a public key")
}

// The extensions of Fulcio's certificates that contain the issuer as DER, and as bare text in older ones.
// https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md
var (
	oidIssuer     = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}
	oidIssuerText = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 1}
)

// claimedIdentity returns the issuer and subject of a certificate in DER, without verifying it. It returns the zero
// value for other certificates.
func claimedIdentity(der []byte) (id Identity) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return id
	}
	switch {
	case len(c.URIs) > 0:
		id.Subject = c.URIs[0].String()
	case len(c.EmailAddresses) > 0:
		id.Subject = c.EmailAddresses[0]
	}
	for _, e := range c.Extensions {
		switch {
		case e.Id.Equal(oidIssuer):
			if _, err := asn1.Unmarshal(e.Value, &id.Issuer); err != nil {
				return Identity{}
			}
		case e.Id.Equal(oidIssuerText) && id.Issuer == "":
			id.Issuer = string(e.Value)
		}
	}
	if id.Issuer == "" || id.Subject == "" || !isPrintable(id.Issuer) || !isPrintable(id.Subject) {
		return Identity{}
	}
	return id
}

// isPrintable reports whether a text consists of printable ASCII characters without spaces, as lockfiles require.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
