// Package attach writes skillpm into the configuration of agents, its hooks and its MCP server, and takes it out again.
//
// A table says for each host which files it reads, how they are written, and what has to be in them. The rules:
//
//   - What is there stays byte for byte, comments, order, indentation, line ends and a byte order mark included; what
//     is ours is spliced in. To install twice changes nothing, and to install for a moved program changes only its
//     path.
//   - To remove takes out what is ours. If the file is still as install left it, it becomes again what it was before,
//     to the byte; else what was made for our entries goes with them once it is empty.
//   - Others' hooks and servers are never touched. A server of our name that is not ours is a conflict.
//   - A file that cannot be read, or has a key twice, is an error, and stays as it is. Every result is read again, and
//     what it means is compared with what was wanted, before anything is written.
//   - Files are written whole, keep their permissions, and are locked against other skillpm processes. A link is
//     followed if it leads to somewhere in the home directory or the project, and refused otherwise.
//
// Start with [Install]. This package may change at any time.
package attach
