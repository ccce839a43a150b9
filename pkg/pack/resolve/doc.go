// Package resolve selects one version of every pack that is required, directly or by another pack, so that all
// requirements are met. It may change at any time.
//
// The algorithm is PubGrub (https://nex3.medium.com/pubgrub-2fb6470504f), and the code uses its terms. A partial
// solution holds decisions and derivations; incompatibilities are lists of terms that must not all be true. The solver
// decides one pack after the other, derives by unit propagation what follows, and learns a new incompatibility from
// each conflict. One thing differs from the paper: a conflict undoes the wrong decision and what follows from it, and
// nothing else. So a conflict between two packs costs what these two cost, however many others were decided since.
//
// The rules that the package keeps:
//
//   - The result depends on the requirements and the provider's answers, not on the order of either.
//   - Packs that the root requires are decided first, those in the lock before others, then by name. Each gets the
//     version in the lock, otherwise the highest release, with which all after it have a solution.
//   - Other packs get the version in the lock if it matches, otherwise the highest release that matches.
//   - A pre-release is only selected if every requirement of the pack asks for pre-releases, as ">=2.0.0-0" does, or if
//     a requirement names a source and no range.
//   - A version that was yanked, or is unavailable for another reason, is only selected if it is the one in the lock.
//   - A pack has one version from one source. A second source is a conflict.
//   - Cycles are allowed.
//
// The package does no I/O: it asks a [Provider] about packs when they are needed, and about what a version requires
// when it tries the version. A [ConflictError] names a smallest set of requirements that exclude each other: without
// any one of them the others could be met.
//
// Start reading at [Resolve], then solver.go (the search), solution.go (the partial solution), and learn.go (conflict
// resolution).
package resolve
