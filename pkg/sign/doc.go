// Package sign creates and verifies signatures over the digests of packs: keys, in-toto statements in DSSE envelopes,
// Sigstore bundles, and the SSH signatures of git tags. It performs no I/O; pkg/source/trust finds what it verifies.
// Start reading at [Envelope] and [PublicKey].
//
// The rules it keeps:
//
//   - A signature counts if a trusted key made it, over a statement whose subject is the digest in question. The name
//     inside a bundle never counts.
//   - Input is bounded, and has one reading: JSON with a duplicate key, text after the document, and an envelope with
//     several signatures are errors, so that no two programs see different things in one signature.
//   - A key signs the same statement with the same bytes (RFC 6979), so signing twice adds nothing.
//   - Keys are ECDSA P-256. Private keys are encrypted as cosign encrypts its own, so that either program can use the
//     other's.
//
// This package is part of skillpm's embedding API and keeps compatibility.
package sign
