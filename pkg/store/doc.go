// Package store keeps skills by the digest of their trees, so that every pack, version and scope that has a skill in
// common shares one copy, and an install that was made once needs no network again.
//
// On disk a store is a directory:
//
//	t1/<2 hex>/<62 hex>/inventory   the tree's inventory, whose digest is the directory's name; its time is the last use
//	t1/<2 hex>/<62 hex>/tree/…      the files
//	tmp/w-<n>, tmp/w-<n>.lock       what is being written or removed, and the lock of the process that does it
//
// The rules that the package keeps:
//
//   - A tree appears whole, by one rename, or not at all. Any number of processes may write at once.
//   - Nothing in a store is believed: whatever leaves it is hashed on the way out, and a tree that is found damaged is
//     moved aside, so that it is fetched again. So no write has to be forced to the disk.
//   - Files are created by single names in directories that are open, never over another file; no link is followed.
//   - Reading needs no write access.
//   - A tree leaves the store whole, by one rename: whoever reads it meanwhile gets all of it or an error, never a
//     part.
//   - An error of the disk names the file and says what to do.
package store
