// Package keyless checks signatures that were made with a certificate for an identity instead of a key: those that
// Sigstore's Fulcio issues to people and CI jobs. It asks no server: the roots of trust are in a file that somebody pinned
// (trusted_root.json), and the bundle carries the proof that it was logged in time.
//
// What it needs is large, so it is part of a build with the tag keyless only (see docs/adr/0013-keyless-signatures.md).
// Without it, [New] says which program to use, and nothing is believed.
package keyless

// Identity is who a certificate was issued to.
type Identity struct {
	Issuer  string // the https address of the OpenID Connect issuer, exactly
	Subject string // exactly, or a regular expression between ^ and $
}
