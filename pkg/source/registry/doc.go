// Package registry lists the versions of a pack by asking the configured registries. Start reading at [Set].
//
// A registry is an index (static files in a directory, in a git repository, on an HTTPS server, or inside the binary)
// or a set of OCI artifacts (the repositories below a prefix, or an image layout on disk).
//
// A [Set] decides which registry answers for a name, so that nobody can publish a pack under another owner's name:
//
//   - If a namespace is bound to a registry, no other registry is asked.
//   - Otherwise every configured index is asked. Two indexes that have the name are an error that names both. An index
//     that is unreachable is an error, because it might have the name.
//   - OCI registries answer for the namespaces that are bound to them, or for all if one is the only registry, or the
//     only one of the user.
//   - If no registry is configured, the user's own published packs are asked, then those in the binary, but only for
//     names that the user gives. Packs from elsewhere never get their dependencies from there.
//   - The packs of skillpm itself, which are in the binary, are looked up only there unless the namespace is bound.
//   - A locked name is looked up only in the source of its lock.
//   - A project that binds a namespace elsewhere than the user needs the user's consent.
//
// Nothing here downloads a pack: [Registry.Pack] returns where it is, and the source packages fetch it.
//
// This package may change at any time.
package registry
