// Package tool decides whether a call of a tool may go ahead while skills are active.
//
// A skill's `allowed-tools` names tools, and patterns of what they may be called with. The rules:
//
//   - A list is written with commas, with spaces, or as a YAML list. What stands in parentheses belongs to the tool
//     before them: Bash(git:*), Read(./docs/**), WebFetch(domain:example.com).
//   - Agents name one tool in many ways. They meet in one table: Bash, shell and run_shell_command are one tool. A tool
//     that the table does not have is allowed where a list names it exactly, and refused everywhere else.
//   - A name alone allows the tool whole. * allows every tool, mcp__server every tool of an MCP server.
//   - A pattern for commands holds for every command of a line. What a shell would make something else of
//     (substitutions, redirections to files, assignments before the command) is refused, because a pattern can't say
//     what it becomes.
//   - A pattern for files is relative to the project, and no `..` leaves it.
//   - Where several skills are active, each list must allow the call: nesting never allows more.
//   - skillpm's own tools are always allowed, because they are the way out.
//
// Where it is not sure the answer is no, with a reason.
package tool
