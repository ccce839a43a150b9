// Package registry finds out which versions a pack has by asking the registries that are configured.
//
// A registry is an index, which is static files in a directory, in a git repository, on an HTTPS server or inside the
// binary, or it is a place of OCI artifacts: the repositories below a prefix, or an image layout on disk.
//
// A [Set] decides which one answers for a name, so that nobody can slip in a pack under somebody else's name:
//   - A namespace that is bound to a registry is looked up nowhere else.
//   - Any other name is asked of every configured index. Two that have it are an error naming both, and one that cannot
//     be reached is an error, because it might have had it.
//   - OCI places answer for the namespaces bound to them, or for all where one is the only registry.
//   - The user's own published packs, and then those in the binary, are asked when no configured registry has the name.
//   - A name that is locked is looked up only where it was locked.
//
// Nothing here downloads a pack: [Registry.Pack] says where it is, and the source packages fetch it.
package registry
