// Package session is what is in force for one session of an agent: the skills that are active, one inside the other,
// and the tools that they leave.
//
// The rules it keeps:
//
//   - A session is known by its id alone. Its state is a file, written whole under the kernel's lock: any number of
//     processes, such as the hooks of an agent, agree on it. Without an id nothing is kept.
//   - A skill that is active is not activated again. Asking for one further down the stack is a cycle, and the error
//     shows it; the stack has at most so many skills as the settings say, five by default.
//   - Who may activate a skill is what its frontmatter says: the user, the model, or both.
//   - A tool may be called if every active skill allows it. What counts is what a skill said when it was activated. If
//     its SKILL.md was changed, renamed or deleted since, that is said, and lifts nothing.
//   - When a skill ends, what it forbade is allowed again. Those above it in the stack end with it.
//   - The script that a skill names to run before it decides whether it is activated. The one that runs after it
//     decides nothing.
//   - A process that is killed leaves a skill active or not, never something between.
//   - State that cannot be read is an error, and while it lasts nothing is allowed.
//   - Activations, hooks, scripts and refusals are recorded, see package audit.
//   - Files of a skill are read, never written, and only those inside its directory.
//
// Start reading at [Session.Activate] and [Session.Allow]. This package may change at any time.
package session
