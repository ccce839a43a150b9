// Package pathx decides whether a path is inside a directory, and finds out where a path leads. It is the only place
// that does either: what skillpm allows, overwrites, and deletes depends on these answers.
//
// Two kinds of functions must not be confused:
//
//   - Lexical functions compare paths as they are written, and never look at the disk: [Contains], [ContainsStrict],
//     [ContainsFold], [Rel], [RelSlash], and [Escapes]. A link inside a directory may lead out of it, so their answer
//     is about names only. To decide about files, call them with paths that [Resolve] returned.
//   - [Resolve], [ResolveExisting], [ResolveDir], [ResolveOrClean], [ContainsResolved], and [Snapshot] look at the
//     disk. They are right about the moment in which they looked. Where somebody else may replace a directory by a link
//     at any time, open files below an [os.Root], which checks while it opens.
//
// Arguments always come in the same order: first the directory, then the path that may be inside it.
//
// Case: on Windows and macOS, file systems ignore the case of names unless somebody made one that doesn't, so lexical
// functions ignore it there too, by Unicode's simple case folding. Elsewhere each byte counts. ContainsResolved asks
// the file system instead, and is right about volumes of either kind.
//
// Lexical functions don't know the short names (PROGRA~1), data streams, and trailing dots of Windows, nor bind mounts.
// Resolve replaces short names of what exists.
package pathx
