package sign

import "github.com/skillpm/skillpm/pkg/diag"

// Keyless signatures are made with a certificate for an identity instead of a key: those that Sigstore's Fulcio issues
// to people and CI jobs. The code that verifies them is more than half as large as skillpm, and the versions of what it
// is built on would decide which bytes skillpm publishes. So it is a program of its own, skillpm-keyless, from the
// module in cmd/skillpm/keyless (docs/adr/0013-keyless-signatures.md). A program without it refuses them.

// Identity is who a certificate was issued to.
type Identity struct {
	Issuer  string // the https address of the OpenID Connect issuer, exactly
	Subject string // exactly, or a regular expression between ^ and $
}

// KeylessVerifier checks signatures of identities. It asks no server: a bundle carries the proof that it was logged in
// time.
type KeylessVerifier interface {
	// Verify checks that one of the identities got the certificate that a bundle was signed with, while it was valid,
	// and that the bundle's statement is about the digest. It returns who that is, as the certificate says. A signature
	// that does not count is an error with the code [diag.Denied].
	Verify(bundle []byte, digest string, identities []Identity) (Identity, error)
}

// OpenKeyless returns a verifier that trusts what a file trusted_root.json names, and nothing else.
type OpenKeyless func(trustedRoot []byte) (KeylessVerifier, error)

// KeylessMissing is the [OpenKeyless] of a program that cannot check such signatures. Its error has the code
// [diag.Denied] and says which program can.
func KeylessMissing([]byte) (KeylessVerifier, error) {
	return nil, diag.Errorf(diag.Denied, "a signature was made with a certificate, and this program cannot check that").
		WithHint("use skillpm-keyless of the same release, or trust a key")
}
