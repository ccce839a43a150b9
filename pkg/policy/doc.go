// Package policy reads the file in which an organisation says which sources, packs and skills may be used, and decides by it.
//
// It keeps these rules:
//   - A policy that cannot be read whole is no policy: [Parse] returns an error and nothing else, so that whoever asks
//     denies everything. Nothing is guessed, ignored or repaired. A key without a value is an error, and so are unknown
//     keys, keys that are there twice, and anchors, aliases and tags.
//   - All problems are reported at once, each with its place and how to mend it.
//   - What would never match, or match more than it seems to, is an error: sources that are not written as the lock
//     writes them, and patterns of identities that are not anchored.
//
// And these, when it decides:
//   - A denial wins. Where there is a list of what is allowed, everything else is denied. Of several policies, a [Set], each
//     must allow what is done, so that one more can only tighten.
//   - What restricts holds for every spelling of a place, and what allows only for the one that it names.
//   - A policy that can't be read, see [Broken], and a place that is not understood, are denials.
//
// Decided are sources, signatures and the age of releases; the other sections are only read as yet.
package policy
