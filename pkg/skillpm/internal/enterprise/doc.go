// Package enterprise keeps the enterprise layer of a machine in step with a list that an organization publishes.
//
// A list is a release of a git repository, or of an OCI repository, with a skillpm.yaml, a skillpm.lock, and perhaps a
// policy.yaml with its keys. [Client.Sync] fetches the newest one, checks it against the keys that the machine's
// administrator trusts, and brings the layer to it. Start reading there. The rules that the package keeps:
//
//   - Only the administrator's config.yaml says where the list comes from and whose signatures count: no environment
//     variable, no user's settings, no flag. Caches and records are where only the administrator can write.
//   - The signature covers exactly what is used: the commit of a tag, or the manifest with the digests of the files.
//     Nothing of a list is read before its signature is verified.
//   - A list never replaces a newer one, and a release whose content changed is refused.
//   - Packs, lockfile, policy, and record change in one transaction. A failure leaves the layer as it was.
//   - A policy is replaced as a whole, by one that is valid and whose keys exist, and never by none.
package enterprise
