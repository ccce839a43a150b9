// Package git fetches packs from git repositories, over HTTPS, SSH, or from a local directory, and reads work trees
// with the git program. Start reading at [Client.Open].
//
// It fetches one commit, without history and without a checkout, walks its tree, and streams its blobs. If the server
// can leave out blobs, it fetches the trees first, then the files that describe a pack, then the files of the skills
// that the caller wants, each in one request. Otherwise, or if the caller wants all skills ([pack.WithSkills]), it
// fetches the commit at once. It runs no git program for transfers unless [Options] names one.
//
// The rules it keeps:
//
//   - A source is pinned to a commit before anything is read, and a commit is fetched only by its hash: moving a tag
//     does not change what a pin fetches.
//   - Objects are named by the hash of the received bytes, so a server cannot send other content for a commit.
//   - Memory never holds a file larger than a megabyte, whatever the size of the pack.
//   - The cache is not trusted: a missing or damaged object is fetched again.
//   - An interrupted transfer is repeated a bounded number of times. So is a request that the server asks to repeat
//     later, if the delay is short.
//   - It runs no program that a user's or repository's configuration or the environment names, except the user's
//     credential helpers, if a server asks for credentials and no other source has them.
//   - Everything that a server sends is bounded: references, packs, objects, deltas, and the time without data.
//   - Credentials are read only when a server asks for them, and sent only to its host. They do not follow a redirect
//     to another host, and are never part of an error.
//   - Symbolic links, submodules, and names that some file system takes for .git are not followed. Inside a skill they
//     are errors.
//
// This package may change at any time.
package git
