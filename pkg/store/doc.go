// Package store keeps skills by the digest of their trees, so that every pack, version and scope that has a skill in
// common shares one copy, and an install that was made once needs no network again.
//
// On disk a store is a directory:
//
//	t1/<2 hex>/<62 hex>/inventory   the tree's inventory, whose digest is the directory's name
//	t1/<2 hex>/<62 hex>/tree/…      the files
//	tmp/…                           what is being written, locked by its writer
//
// The rules that the package keeps:
//
//   - A tree appears whole, by one rename, or not at all. Any number of processes may write at once.
//   - Nothing in a store is believed: whatever leaves it is hashed on the way out, and a tree that is found damaged is
//     moved aside, so that it is fetched again. So no write has to be forced to the disk.
//   - Files are created below an [os.Root], never over another file, and never as a link; no link is followed out.
//   - Reading needs no write access.
package store
