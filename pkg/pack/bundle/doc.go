// Package bundle is the one form that a skill's files have between places: it hashes a skill, packs skills into an
// archive, and unpacks an archive that nobody has reason to trust.
//
// A skill is a tree of regular files, each executable or not. Its [Inventory] lists them, and the inventory's digest
// names the skill wherever it is stored or locked. The rules that the package keeps:
//
//   - The same files give the same digest on every platform and from every source: names are NFC, the only mode is
//     the owner's executable bit, and one fixed list of litter ([Ignored]) is left out everywhere.
//   - The same trees give the same archive, byte for byte: no clock, no user, no machine.
//   - A name is refused unless every supported system can hold it and no system reads it as something else
//     ([CheckPath]); two names that some system holds for one are refused ([Checker]).
//   - Links, devices and every other thing that is neither a file nor a directory are refused, never skipped.
//   - An archive is read to its very end: what is truncated, or has something behind it, is refused.
//   - Everything is bounded ([Limits]).
//
// The package reads from [io/fs.FS] and [io.Reader] and writes to [io.Writer] and [Sink]; it opens nothing by itself.
package bundle
