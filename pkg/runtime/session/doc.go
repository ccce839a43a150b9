// Package session keeps the state of an agent's session: its stack of active skills, and the tools that they allow.
//
// The rules it keeps:
//
//   - An id identifies a session. Its state is a file that is written atomically under a kernel lock, so that any
//     number of processes, such as the hooks of an agent, share it. Without an id no state is kept.
//   - A skill is nested in an active one that refers to it, or that the caller names. Otherwise it follows: the skills
//     before it end. What the model does ends no skill that the user started. The settings limit how deep skills are
//     nested; the default is 5.
//   - A skill that is active is not activated again: its instructions are repeated. It is a cycle if a skill that is
//     nested in it refers to it.
//   - The frontmatter of a skill determines who may activate it: the user, the model, or both.
//   - A tool may be called if every active skill allows it. The tool lists at activation count: a later change,
//     renaming, or deletion of SKILL.md is reported and lifts no restriction.
//   - Ending a skill lifts its restrictions and ends the skills that are nested in it.
//   - A skill whose pre hook fails is not activated. The result of a post hook changes nothing.
//   - A task has a session of its own, in which its skill and those of the caller are active until the task ends.
//   - If an agent asks the user about a skill, its hooks run, and the skills before it end, when the user has agreed.
//   - A process that is killed leaves a skill either active or inactive.
//   - Every tool is denied while the state cannot be read.
//   - The audit log has activations, hooks, scripts, and denials, see package audit.
//   - A skill's files are only read, and only inside its directory.
//
// Start reading at [Session.Activate] and [Session.Allow]. This package may change at any time.
package session
