// Package store keeps skills by the digests of their trees. All packs, versions and scopes that have a skill share one
// copy, and installing it again needs no network access.
//
// A store is a directory:
//
//	t1/<2 hex>/<62 hex>/inventory   the inventory, whose digest names the directory; its mtime is the last use
//	t1/<2 hex>/<62 hex>/tree/…      the files
//	tmp/w-<n>, tmp/w-<n>.lock       a scratch directory, and the lock of the process that uses it
//
// The rules that the package keeps:
//
//   - One rename adds a complete tree to the store. Any number of processes may write at once.
//   - The store is not trusted: everything that leaves it is hashed, and a damaged tree is removed, so that it is
//     fetched again. Therefore writes need no fsync.
//   - It creates files by single names in open directories, never replaces one, and follows no link.
//   - Reading needs no write access.
//   - One rename removes a tree from the store: a process that reads it meanwhile gets all of it or an error.
//   - An error of the operating system names the file and suggests a fix.
//
// Start reading at [Store.Writer] for writing, and [Store.Materialize] for copying a tree into a project.
//
// This package may change at any time.
package store
