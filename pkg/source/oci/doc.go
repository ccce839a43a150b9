// Package oci publishes packs as OCI artifacts and fetches them, from registries and from image layouts on disk.
//
// A pack of one skill is the community's Agent Skills artifact; a pack of several is one manifest with one layer that
// is rooted at a directory for each skill, so that any pack takes a manifest and a layer to fetch. Both carry the
// annotation io.skillpm.pack.v1, from which a version can be resolved with a single GET. Artifacts hold no host name
// and no time: a mirror keeps every digest, and publishing the same content again gives the same bytes.
//
// The rules it keeps:
//   - Every byte that is used was checked against a size and a SHA-256 digest that lead back to the pinned one.
//   - Manifests are bounded in size and number; foreign URLs, other digest algorithms, nested indexes and inline data
//     that disagrees with its digest are refused.
//   - Every wait ends. A request that a server may answer later is repeated a few times, as late as the server asks
//     for, up to a minute; an answer that breaks, stalls or drips is taken up where it ended, and its bytes are checked
//     all together.
//   - Memory does not grow with a pack: layers are unpacked as they come, and those that have to be read twice, because
//     nothing describes them, are kept in temporary files until [Client.Close].
//   - A registry is spoken to over HTTPS; plain HTTP is for loopback addresses that do not speak TLS, and for hosts
//     that are named. Redirects neither leave HTTPS nor lead into this machine or its link-local network.
//   - Credentials come from Docker's configuration and its helpers, for the host that asks, and go to no other.
//   - A published version is never replaced by other content, and is there only once what is attached to it is. Moving
//     tags go forward only.
//   - What is about a version ([Client.Referrers]) and what a repository says of its versions ([Client.Status]) is as
//     little trusted as what is in them: bounded, checked by digest, and on the same server.
//   - A mirror is asked first and is believed no more than its digests; nothing is pushed to it.
package oci
