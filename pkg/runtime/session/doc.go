// Package session keeps the state of an agent's session: its stack of active skills, and the tools that they allow.
//
// The rules it keeps:
//
//   - An id identifies a session. Its state is a file that is written atomically under a kernel lock, so that any
//     number of processes, such as the hooks of an agent, share it. Without an id no state is kept.
//   - An active skill cannot be activated again. Activating one that is further down the stack is a cycle. The settings
//     limit the depth of the stack; the default is 5.
//   - The frontmatter of a skill determines who may activate it: the user, the model, or both.
//   - A tool may be called if every active skill allows it. The tool lists at activation count: a later change,
//     renaming, or deletion of SKILL.md is reported and lifts no restriction.
//   - Ending a skill lifts its restrictions and ends the skills above it in the stack.
//   - A skill whose pre hook fails is not activated. The result of a post hook changes nothing.
//   - A process that is killed leaves a skill either active or inactive.
//   - Every tool is denied while the state cannot be read.
//   - The audit log has activations, hooks, scripts, and denials, see package audit.
//   - A skill's files are only read, and only inside its directory.
//
// Start reading at [Session.Activate] and [Session.Allow]. This package may change at any time.
package session
