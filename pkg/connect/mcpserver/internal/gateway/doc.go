// Package gateway connects to other MCP servers, and passes their tools on as long as a check of each call allows it.
//
// It keeps these rules:
//
//   - Every call is checked before the server behind the gateway hears of it, by the name that hosts give the tool:
//     mcp__SERVER__TOOL. What is passed on are the arguments that were checked, written anew: a text that two readers
//     understand in two ways does not get through.
//   - Definitions and results are passed on as they are; so are progress, cancellation, changes of the list, and
//     questions to the user or the model.
//   - A tool is called SERVER__TOOL here. No server can take the name of another's tool, or of one of skillpm's own.
//   - A server that cannot be reached, or ends, takes nothing else with it: its tools answer with an error, and the
//     next call connects anew.
//   - Credentials stay with their server: the headers for an address are sent to that host only, and over plain HTTP
//     only on this machine.
//   - Nothing is unbounded: the number of servers, of tools, of bytes in a definition, a message or an answer; how
//     often a list is asked for; how long an end takes.
//   - Programs, and what they started, end with this process, also where it is killed.
package gateway
