// Package workspace is one scope, a project's or the user's, on disk.
//
// A [Workspace] has the manifest, the lockfile, and the state of this machine. [Workspace.NewLayout] computes the
// desired content: the trees of installed skills, their copies under aliases, and the links of agents.
// [Workspace.Compare] compares it with the actual content and returns a plan, a [Change]. [Workspace.Apply] carries the
// plan out in one transaction. Start reading there. The rules that the package keeps:
//
//   - A file that skillpm did not create is never replaced or removed, and one with local edits only with a backup.
//   - Files of a repository are not trusted: a secret key of this machine authenticates the state.
//   - The lockfile and the skills change together, or not at all.
//
// It uses no network: the trees that it installs must be in the store.
package workspace
