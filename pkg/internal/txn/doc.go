// Package txn changes many files and directories of one scope in one transaction: packs' directories, links for agents,
// and the manifest, lock and state files. After any interruption, either everything has changed or nothing.
//
// Start reading at [Tx], then journal.go (the commit point), apply.go (how operations are applied and undone), and
// conflict.go (which files a transaction may replace). The rules that the package keeps:
//
//   - New content is staged in the journal's directory and synced to disk. Writing the journal is the commit point:
//     before it, an interruption discards the staged content; after it, recovery completes the transaction. The
//     journal is removed when all changed directories are synced.
//   - If the process dies after the commit point, [Recover] completes the transaction; the next writer calls it.
//     Operations are idempotent, so that recovery can be interrupted too.
//   - If an operation fails after the commit point, the process itself undoes everything and reports the error.
//   - Files come last, in the order in which they were staged: a reader of the new lock sees the new packs.
//   - A transaction replaces and removes only what existed when it was committed. Anything else at one of its paths
//     is a conflict and stays.
//   - A journal is authenticated with a secret of the machine, for its root: a journal from a repository is
//     rejected. No operation writes to a .git directory or to the journal's.
//   - Every path is below the scope's root, through an [os.Root]. Below skillpm's own directory no link is followed.
//   - Nothing is unlinked before its replacement is in place, except what the transaction removes. A directory is
//     exchanged for its replacement in one step if the system supports that.
//
// There is one writer at a time: take [Lock] first. This package may change at any time.
package txn
