// Package enterprise keeps the enterprise layer of a machine in step with a list that an organisation publishes.
//
// A list is a release of a git repository, or of an OCI repository, with a skillpm.yaml, a skillpm.lock, and perhaps a
// policy.yaml with its keys. [Client.Sync] brings the newest one, holds it against the keys that the machine's
// administrator trusts, and makes the layer exactly what it says. The rules it keeps:
//
//   - Where the list comes from, and whose signatures count, says the administrator's config.yaml and nothing else: no
//     variable, no settings of a user, no flag. What is cached and remembered is kept where only the administrator
//     writes.
//   - The signature is over exactly what is used: the tag on the commit, or the manifest that names the files by their
//     digests. Nothing of a list is read before that holds.
//   - A list never replaces a newer one, and a release that has other content than it had is refused.
//   - All of it comes into force in one transaction, or nothing does: packs, lock, policy, and the record of which list
//     it is. Whatever fails before leaves the layer as it was.
//   - A policy is replaced whole, by one that is valid and whose keys are there, and never by none.
package enterprise
