// Package project reads and writes what a project says about packs: its manifest (skillpm.yaml), its lock
// (skillpm.lock), the user's configuration, and the names under which skills are in force.
//
// The rules it keeps:
//
//   - Reading is strict. Unknown and duplicate keys, merge markers, anchors, tags and values that YAML would read as
//     something else than text are errors with a line, a column and a way to mend them. A file that cannot be read is
//     never taken for an empty one.
//   - Scalars are taken as they are written, so that 1.10 stays 1.10.
//   - An edit of a manifest changes the bytes of the value it is about and no others: comments, order, blank lines,
//     quotes, indentation and line ends stay. It is checked by reading the result, and refused if that says anything
//     else than what was meant.
//   - Equal locks are equal bytes: sorted, without a clock.
//
// The package works on bytes and on [io/fs.FS]; it writes nothing to the disk.
package pack
