package sign

import "github.com/skillpm/skillpm/pkg/diag"

// Keyless signatures use a certificate for an identity instead of a key, which Sigstore's Fulcio issues to users and CI
// jobs. The code that verifies them is more than half as large as skillpm, and its dependencies would decide which
// bytes skillpm publishes. So it is a separate program, skillpm-keyless, from the module in cmd/skillpm/keyless
// (docs/adr/0013-keyless-signatures.md). Without it, keyless signatures are refused.

// Identity is the subject of a certificate and its issuer.
type Identity struct {
	Issuer  string // the https address of the OpenID Connect issuer, exact
	Subject string // exact, or a regular expression between ^ and $
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
