// Package connect is the room of what connects skillpm to agents. It has no code of its own. Its packages:
//
//   - attach writes skillpm's hooks and MCP server into the configuration files of agents, and removes them again.
//   - hook answers the hook events of agents: it observes which skills start and denies tool calls that they restrict.
//   - mcpserver serves the skills of a session over MCP; its gateway passes on the checked tools of other MCP servers.
//   - skilltest runs the tests that a skill brings along.
//
// Nothing here can reach git, OCI, the store, or the installer. These packages may change at any time.
package connect
