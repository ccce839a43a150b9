// Package workspace is one scope, a project or the user's, as it is on disk, and as it should be.
//
// A [Workspace] holds the manifest, the lock and what this machine remembers. [Workspace.NewLayout] works out what a
// manifest and a lock imply: the trees of installed skills, their copies under other names, and what agents find.
// [Workspace.Compare] finds the difference to the disk, and [Workspace.Apply] carries it out in one transaction. The
// rules that the package keeps:
//
//   - Nothing that skillpm did not write is replaced or removed, and nothing that it wrote and somebody changed since.
//   - What came with a repository is not believed: what this machine remembers is authenticated by a secret of its own.
//   - The lock and the skills change together, or not at all.
//
// It asks nobody: what a lock names is in the store, or has to be put there before.
package workspace
