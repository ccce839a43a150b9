// Package trust says who signed a pack. It finds the signatures of artifacts in registries and layouts, and those of
// git tags, keeps them in a cache, and checks them against the keys and identities that somebody trusts; and it makes
// the artifacts with which a pack is signed and described.
//
// The rules it keeps:
//   - Nothing is believed because it was believed before. The cache holds what was signed, as it was signed, and every
//     answer is checked anew, so an edited cache or lock proves nothing and breaks nothing.
//   - A signature counts for the manifest that it names and for the trees that this manifest names; where a manifest
//     names none, and for git, for the trees that this machine got when it fetched just that.
//   - A signer counts once, however many signatures there are; a threshold is a number of signers.
//   - What cannot be checked is refused: no signature, one that cannot be read, one that only another build can check.
//   - What a registry sends is bounded in number and size.
package trust
