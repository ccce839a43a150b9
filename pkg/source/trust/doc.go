// Package trust verifies who signed a pack. It finds the signatures of artifacts in registries and layouts, and those
// of git tags, caches them, and checks them against trusted keys and identities. It also creates the artifacts that
// sign and describe a pack. Start reading at [Verifier].
//
// The rules it keeps:
//
//   - A result is never cached. The cache holds signed bytes as they were received, and each check verifies them again,
//     so an edited cache or lockfile proves nothing and breaks nothing.
//   - A signature counts for the manifest that it names, and for the trees that the manifest names. If a manifest names
//     none, and for git, it counts for the trees that this machine received when it fetched that manifest or commit.
//   - A signer counts once, whatever the number of signatures; a threshold is a number of signers.
//   - What cannot be checked is refused: no signature, an unreadable one, one that only another build can check.
//   - Everything that a registry sends is bounded in number and size.
//
// This package may change at any time.
package trust
