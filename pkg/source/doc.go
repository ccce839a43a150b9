// Package source opens the sources of packs with a user's credentials and settings. Start reading at [Clients].
//
// The packages of the room:
//
//   - credential keeps logins and asks the helpers of docker and git for them.
//   - file reads packs from directories.
//   - git reads packs from git repositories.
//   - oci reads and writes OCI registries and layouts.
//   - registry finds packs by name, in indexes and below OCI prefixes.
//   - trust finds and verifies signatures of packs.
//
// This package may change at any time.
package source
