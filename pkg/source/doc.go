// Package source opens the sources of packs with a user's credentials and settings. Start reading at [Clients].
//
// The packages of the room:
//
//   - git reads packs from git repositories, and asks git about work trees.
//   - oci reads and writes OCI registries and layouts.
//   - registry finds packs by name, in indexes and below OCI prefixes.
//   - trust finds and verifies signatures of packs.
//   - internal/file reads packs from directories.
//   - internal/website reads skills that websites publish under /.well-known/.
//   - internal/credential keeps logins where Docker keeps its own, and asks Docker's helpers for them.
//   - internal/memo fetches a value once for all callers that need it.
//
// This package may change at any time.
package source
