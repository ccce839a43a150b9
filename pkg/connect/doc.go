// Package connect writes skillpm into the configuration of agents, its hooks and its MCP server, and removes it again.
//
// A table has the files of each agent, their format, and the entries that belong in them. The rules it keeps:
//
//   - Everything else in a file stays byte for byte: comments, order, indentation, line ends, and a byte order mark.
//     Installing twice changes nothing. Installing for a moved program changes only its path.
//   - Removing takes out only skillpm's entries. A file that is unchanged since the installation becomes what it was
//     before, to the byte; otherwise empty parents of the entries go with them.
//   - Other programs' hooks and servers are never touched. A foreign server of the same name is a conflict.
//   - A file that cannot be read, or has a duplicate key, is an error and stays unchanged. Every result is parsed again
//     and compared with the intention before it is written.
//   - Files are written completely, keep their permissions, and are locked against other skillpm processes. A link is
//     followed if it leads into the home directory or the project, and refused otherwise.
//
// Start with [Install]. The other packages of this room:
//
//   - hook answers the hook events of agents: it observes which skills start and denies tool calls that they restrict.
//   - mcpserver serves the skills of a session over MCP; its gateway passes on the checked tools of other MCP servers.
//
// Nothing here can reach git, OCI, the store, or the installer. These packages may change at any time.
package connect
