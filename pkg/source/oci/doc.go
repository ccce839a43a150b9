// Package oci publishes packs as OCI artifacts and fetches them, from registries and from image layouts on disk. Start
// reading at [Client.Open] and [Client.Publish].
//
// A pack of one skill is the community's Agent Skills artifact. A pack of several skills is one manifest with one layer
// that has a directory for each skill, so that every pack takes one manifest and one layer to fetch. Both have the
// annotation io.skillpm.pack.v1, from which a version is resolved with one GET. Artifacts contain no host name and no
// time: a mirror keeps every digest, and publishing the same content again gives the same bytes.
//
// The rules it keeps:
//
//   - Every byte that is used was checked against a size and a SHA-256 digest that lead back to the pinned digest.
//   - Manifests are bounded in size and number. Foreign URLs, other digest algorithms, nested indexes, and inline data
//     that contradicts its digest are errors.
//   - Every wait ends. A request that a server may answer later is repeated a few times, after the delay that the
//     server names, up to a minute. A download that breaks, stalls, or drips continues where it ended, and all its
//     bytes are checked together.
//   - Memory does not grow with a pack: layers are unpacked as they arrive. Layers that must be read twice, because
//     nothing describes them, stay in temporary files until [Client.Close].
//   - Registries are contacted over HTTPS; plain HTTP is for loopback addresses without TLS, and for hosts that the
//     user names. Redirects never leave HTTPS, and never lead to this machine or its link-local network.
//   - Credentials come from Docker's configuration and its helpers, for the host that asks, and go to no other host.
//   - A published version is never replaced by other content, and becomes visible after everything attached to it.
//     Moving tags only move forward.
//   - Referrers ([Client.Referrers]) and the status of versions ([Client.Status]) are as little trusted as packs:
//     bounded, checked by digest, and read from the same server.
//   - A mirror is asked first, and trusted no more than its digests; nothing is pushed to it.
//
// This package may change at any time.
package oci
