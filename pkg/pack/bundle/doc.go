// Package bundle is the form of a skill's files outside a project: it hashes skills, writes them into archives, and
// unpacks untrusted archives.
//
// A skill is a tree of regular files, each executable or not. Its [Inventory] lists them, and the digest of the
// inventory identifies the skill in stores and lockfiles. The rules that the package keeps:
//
//   - The same files have the same digest on every platform and from every source: names are NFC, the only mode is the
//     owner's executable bit, and one fixed list of files ([Ignored]) is left out everywhere.
//   - The same trees give the same archive, byte for byte: it has no times, users, or machines.
//   - A name is an error unless every supported system can have it and none reads it as something else ([CheckPath]).
//     Two names that are the same on some system are an error ([Checker]).
//   - Links, devices, and everything else that is neither a file nor a directory are errors and never skipped.
//   - An archive is read to its end: truncated archives and trailing data are errors.
//   - Everything has a limit ([Limits]).
//
// The package reads from [io/fs.FS] and [io.Reader] and writes to [io.Writer] and [Sink]; it opens nothing itself.
//
// Start reading at [Sum] for hashing, [WriteArchive], and [Unpack].
//
// This package is part of skillpm's embedding API and keeps compatibility.
package bundle
