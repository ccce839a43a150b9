// Package txn changes many files and directories of one scope as one transaction: packs' directories, links for agents,
// and the manifest, lock and state files. Whatever stops it, a scope is as it was or as it was to be.
//
// The rules that the package keeps:
//
//   - What is new is staged in the journal's directory and forced to the disk. Writing the journal is the commit point:
//     before it what is staged is rubbish, after it the transaction has happened.
//   - A process that dies after the commit point leaves the rest to [Recover], which the next writer calls. It repeats
//     what is done already without harm, so it may be interrupted too.
//   - An error after the commit point in the process itself undoes everything, because somebody is there to be told.
//   - Files come last, in the order they were staged in: who sees the new lock sees the new packs.
//   - A transaction replaces and removes only what was there when it was committed. Anything else that turns up at one
//     of its paths is a conflict and stays.
//   - A journal is authenticated with a secret of the machine, for its root: one that came with a repository is
//     refused. No operation is in a .git directory or in the journal's.
//   - Every path is below the scope's root, through an [os.Root]. Below skillpm's own directory no link is followed.
//   - Nothing is unlinked before its successor is in place, except what is to be removed; a directory is exchanged for
//     its successor in one step where the system can do that.
//
// One writer at a time: take [Lock] first.
package txn
