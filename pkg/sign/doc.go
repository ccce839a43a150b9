// Package sign makes and checks signatures over the digests of packs: keys, in-toto statements in DSSE envelopes,
// Sigstore bundles, and the SSH signatures of git tags. It knows no registry and no disk; pkg/source/trust finds what
// it checks.
//
// The rules it keeps:
//   - A signature counts if one of the keys that the caller trusts made it, over a statement whose subject is the
//     digest that the caller asks about. Who a bundle says it is from is never asked.
//   - What is parsed is bounded, and read in one way only: JSON with a key twice, text behind the document, or an
//     envelope with several signatures is refused, so that no two programs see different things in one signature.
//   - A key signs the same statement with the same bytes (RFC 6979), so signing twice adds nothing.
//   - Keys are ECDSA P-256. Private keys are encrypted as cosign encrypts its own, so that either program can use the
//     other's.
package sign
