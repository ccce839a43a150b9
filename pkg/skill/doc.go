// Package skill reads SKILL.md: YAML frontmatter between two lines of three hyphens, then Markdown. It edits
// frontmatter in place, and substitutes arguments and variables in a body.
//
// This package is part of skillpm's embedding API and keeps compatibility.
//
// The rules it keeps when it reads ([Parse] is where to start):
//
//   - Nothing is thrown away. [Parse] always returns a [Document]; what is wrong with the file is data, a list of
//     [Problem], so that one broken field hides neither the other fields nor the body.
//   - Lines and columns count from 1 in the file as it lies on disk, columns in Unicode code points.
//   - A scalar is the text that its author wrote: 1.10 stays "1.10", and 2026-01-02 is not a point in time.
//   - Names are legal when the Agent Skills specification (agentskills.io) says so: 1 to 64 of a-z, 0-9 and single
//     inner hyphens.
//
// The rules of [Expand] are those of the agents:
//
//   - Arguments are split as a shell splits words, by spaces and quotes, and counted from 0.
//   - $ARGUMENTS is all of them as the caller wrote them, $ARGUMENTS[N] and $N are one, $name is the one to which the
//     skill's `arguments:` gives this name by its position. No word character follows $N, and neither one nor [ follows
//     $name.
//   - An index without an argument stays, so that $5.00 survives; a name without one becomes nothing.
//   - A backslash before a placeholder takes its meaning away and goes: \$1.00 is $1.00. Any other backslash stays.
//   - ${NAME} is replaced if the agent has such a variable, and stays otherwise.
//   - Code blocks are no exception.
//   - Arguments that nothing took are appended as a last line, if the agent does that.
//
// Expand reads a text once. It never looks at what it inserts, so an argument that looks like a placeholder or a
// command is only text. It takes linear time and inserts a bounded number of bytes.
//
// The packages of this room:
//
//   - agent is the table of agents, and where they read skills.
//   - profile has the rules of each agent and skill system, as data.
//   - tool has the names of agents' tools, and decides whether tool restrictions allow a call.
package skill
