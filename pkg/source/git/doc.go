// Package git fetches packs from git repositories, over HTTPS, SSH, or from a directory of this machine.
//
// One commit is fetched, without history and without a checkout: its tree is walked and its blobs are streamed to
// whoever wants them. Where a server can leave blobs out, the trees come first, then the files that describe a pack,
// and then those of the skills that are wanted, each in one request; where it cannot, or what it left out cannot be
// had, and where all skills are known to be wanted ([source.WithSkills]), the whole commit comes at once. No git
// program takes part, unless [Options] names one to carry the transfers. The rules that the package keeps:
//
//   - A place is pinned to a commit before anything of it is read, and a commit is never fetched by another name: a tag
//     that moves changes nothing for those who have pinned it.
//   - Objects are named by the hash of what was received, so a server cannot send other content for a commit.
//   - No file larger than a megabyte is held in memory, however large the pack is.
//   - The cache is believed in nothing: an object that is missing or damaged there is fetched again.
//   - What breaks off is asked for again, a bounded number of times, and a server that wants to be left alone is, if it
//     names a time that can be waited for.
//   - Nothing of what the configuration of a user, a repository or the environment may hold for git is run, neither for
//     what the package does itself nor by a git program that it is told to use: but for the credential helpers that the
//     user has configured, when a server wants credentials and there are none elsewhere.
//   - Everything a server sends is bounded: references, packs, single objects, deltas, and the time it may be silent.
//   - Credentials are asked for only when a server wants them, for its host only. They never follow a redirect to
//     another host and are never part of an error.
//   - Names that could mean git's own directory, symbolic links and submodules are not followed; inside a skill they
//     are refused.
package git
