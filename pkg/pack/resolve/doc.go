// Package resolve chooses one version of every pack that is required, directly or by another pack, so that every
// requirement holds.
//
// It is the PubGrub algorithm: it decides one pack after another, derives what follows from the decisions, and when two
// requirements meet that exclude each other it learns from that why, and takes back the decision that was wrong, with
// what follows from it and nothing else. So it finds a choice whenever there is one, and a conflict between two packs
// costs what these two cost, however many others were decided since. The rules it keeps:
//
//   - The result depends on the requirements and the world alone, not on the order of either.
//   - The packs that the root requires are decided first, those in the lock before others, then by name. Each gets the
//     version in the lock, else the highest release, with which there is a choice for all after it.
//   - Other packs get the version in the lock where it fits, else the highest release that fits.
//   - A pre-release is taken only where every requirement of the pack asks for pre-releases, as ">=2.0.0-0" does, or
//     where a requirement names a place and no range.
//   - A version that was yanked, or is withheld for another reason, is taken only where it is the one in the lock.
//   - A pack has one version and comes from one place. A second place is a conflict.
//   - Cycles are fine.
//
// What it knows about the world it asks through two methods; it reads nothing itself, and asks about packs only when
// they are needed and about what a version requires only when it is tried. A [ConflictError] names a smallest set of
// requirements that exclude each other: without any one of them the others could be met.
package resolve
