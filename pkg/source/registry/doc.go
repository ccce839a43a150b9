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
//   - OCI registries answer for the namespaces that are bound to them, or for all if one is the only registry.
//   - If no configured registry has the name, the user's own published packs are asked, then those in the binary.
//   - A locked name is looked up only in the source of its lock.
//
// Nothing here downloads a pack: [Registry.Pack] returns where it is, and the source packages fetch it.
//
// This package may change at any time.
package registry
