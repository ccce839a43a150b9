// Package policy reads the file in which an organisation says which sources, packs and skills may be used.
//
// It keeps these rules:
//   - A policy that cannot be read whole is no policy: [Parse] returns an error and nothing else, so that whoever asks
//     denies everything. Nothing is guessed, ignored or repaired. A key without a value is an error, and so are unknown
//     keys, keys that are there twice, and anchors, aliases and tags.
//   - All problems are reported at once, each with its place and how to mend it.
//   - What would never match, or match more than it seems to, is an error: sources that are not written as the lock
//     writes them, and patterns of identities that are not anchored.
//
// The package only reads. Nothing here decides whether something is allowed.
package policy
