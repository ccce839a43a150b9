// Package resolve chooses one version of every pack that is required, directly or by another pack, so that every
// requirement holds.
//
// It is the PubGrub algorithm: it decides one pack after another, derives what follows from the decisions, and when two
// requirements meet that exclude each other it learns from that why, and goes back to the decision that was wrong. So it
// finds a choice whenever there is one. The rules it keeps:
//
//   - The result depends on the requirements and the world alone, not on the order of either.
//   - The version preferred (that in the lock) is taken where it fits; else the highest release that does.
//   - A pre-release is taken only where every requirement of the pack asks for pre-releases, as ">=2.0.0-0" does, or
//     where a requirement names a place and no range.
//   - A yanked version is taken only where it is the one preferred.
//   - A pack has one version and comes from one place. A second place is a conflict.
//   - Cycles are fine.
//
// What it knows about the world it asks through two methods; it reads nothing itself. A [ConflictError] names a smallest
// set of requirements that exclude each other: without any one of them the others could be met.
package resolve
