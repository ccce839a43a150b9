// Package git fetches packs from git repositories, over HTTPS, SSH, or from a directory of this machine.
//
// No git program takes part in a transfer. One commit is fetched, without history and without a checkout: its tree is
// walked and its blobs are streamed to whoever wants them. The rules that the package keeps:
//
//   - A place is pinned to a commit before anything of it is read, and a commit is never fetched by another name: a tag
//     that moves changes nothing for those who have pinned it.
//   - Objects are named by the hash of what was received, so a server cannot send other content for a commit.
//   - Everything a server sends is bounded: references, packs, single objects, deltas, and the time it may be silent.
//   - Credentials are asked for only when a server wants them, for its host only. They never follow a redirect to
//     another host and are never part of an error.
//   - Names that could mean git's own directory, symbolic links and submodules are not followed; inside a skill they
//     are refused.
package git
