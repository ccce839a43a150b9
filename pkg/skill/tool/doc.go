// Package tool decides whether a tool call is allowed while skills are active. Start reading at [Set.Allow].
//
// A skill's `allowed-tools` names tools, and patterns for their arguments. The rules:
//
//   - Items are separated by commas or spaces, or form a YAML list. Parentheses belong to the tool before them:
//     Bash(git:*), Read(./docs/**), WebFetch(domain:example.com).
//   - One table maps the names that agents give to the same tool: Bash, shell, and run_shell_command are one tool. A
//     tool that is not in the table is allowed if a list names it exactly, and denied otherwise.
//   - A name alone allows every call of the tool, * every tool, and mcp__server every tool of an MCP server.
//   - A pattern for commands must match every command of a line. Substitutions, redirections to files, and assignments
//     before a command are denied, because a pattern cannot say what they expand to.
//   - A command line of which every command only reads, in one of a few exact forms, also counts as the tools with the
//     same effect: cat as Read, rg as Grep, and ls as Glob.
//   - A pattern for files is relative to the project, and `..` cannot leave it.
//   - If several skills are active, each list must allow the call, so nesting never allows more.
//   - skillpm's own tools are always allowed, because they end restrictions. Only a list of disallowed tools forbids
//     todo lists, questions to the user, the discovery of tools, and reading the files of an active skill.
//   - While any list restricts tools, no shell may run the commands of skillpm that change what is allowed, such as
//     skillpm approve, even if the lists allow the command line.
//
// If a decision is uncertain, the call is denied with a reason. This package may change at any time.
package tool
