// Package skill reads SKILL.md: YAML frontmatter between two lines of three hyphens, then Markdown. It edits
// frontmatter in place, and substitutes arguments and variables in a body.
//
// This package is part of skillpm's embedding API and keeps compatibility.
//
// Rules for reading (start at [Parse]):
//
//   - Nothing is lost. [Parse] always returns a [Document]. Problems of the file are data, a list of [Problem], so that
//     a broken field does not hide the other fields or the body.
//     [Problem], so that one broken field hides neither the other fields nor the body.
//   - Lines and columns count from 1 in the file on disk, columns in Unicode code points.
//   - A scalar is the text as written: 1.10 stays "1.10", and 2026-01-02 is not a time.
//   - Names follow the Agent Skills specification (agentskills.io): 1 to 64 characters of a-z, 0-9, and single inner
//     hyphens.
//
// Rules of [Expand], which are those of the agents:
//
//   - Arguments are split into words as a shell does, by spaces and quotes, and counted from 0.
//   - $ARGUMENTS is all arguments as written, $ARGUMENTS[N] and $N are one argument, and $name is the argument at the
//     position of the name in the skill's `arguments:`. A word character after $N, or a word character or [ after
//     $name, prevents the substitution.
//   - An index without an argument stays, so that $5.00 is kept; a name without an argument becomes empty.
//   - A backslash before a placeholder prevents the substitution and is removed: \$1.00 is $1.00. Other backslashes
//     stay.
//   - ${NAME} is replaced if the agent has such a variable, and stays otherwise.
//   - The rules also apply in code blocks.
//   - Unused arguments are appended as a last line, if the agent does that.
//
// Expand scans a text once and never scans what it inserts, so an argument that looks like a placeholder or a command
// stays text. It takes linear time and inserts a bounded number of bytes.
//
// The packages of this room:
//
//   - agent is the table of agents and their skill directories.
//   - profile has the rules of each agent and skill system, as data.
//   - tool maps the names of agents' tools, and decides whether tool restrictions allow a call.
package skill
