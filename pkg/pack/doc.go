// Package pack reads and writes the text formats of packs: references, the manifest (skillpm.yaml), the lockfile
// (skillpm.lock), and the user's configuration (config.yaml).
//
// The rules it keeps:
//
//   - Reading is strict. Unknown and duplicate keys, merge markers, anchors, tags, and values that YAML would not read
//     as text are errors with a line, a column, and a hint. An unreadable file never passes for an empty one.
//   - Scalars keep their spelling, so that 1.10 stays 1.10.
//   - An edit of a manifest changes only the bytes of its value: comments, order, quotes, and line ends stay. The
//     result is parsed and compared with the intended manifest; an edit that would change anything else is an error.
//   - Equal lockfiles are equal bytes: sorted, without a clock.
//   - A reference that no source can have is an error, so that nothing hostile reaches a transport.
//
// The package works on bytes and on [io/fs.FS], and writes nothing to disk.
//
// Start reading at [Ref] and [Pack] (what is required, and what a source has), [Manifest], [Lock], [Compare] (the
// differences between the two), [ResolveNames] (the names of skills), and [Config].
//
// The packages of this room:
//
//   - pack/bundle computes tree digests and packs, inspects, and unpacks the files of skills.
//   - pack/index reads and writes the files of an index.
//   - pack/resolve selects a version of every pack that a manifest requires.
//   - pack/graph draws the dependency graph of a lockfile.
//
// This package is part of skillpm's embedding API and keeps compatibility.
package pack
