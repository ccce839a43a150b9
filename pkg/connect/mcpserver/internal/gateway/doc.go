// Package gateway connects to other MCP servers, and offers their tools. It forwards each call that a check allows.
//
// It keeps these rules:
//
//   - Every call is checked before it is forwarded, by the name that agents give the tool: mcp__SERVER__TOOL. The
//     gateway forwards the arguments that it checked, encoded again, so that no parser can read them differently.
//   - Definitions and results are forwarded, and so are progress, cancellation, changes of the list, and questions to
//     the user or the model. They are unchanged, but for keys of _meta that are skillpm's or the protocol's.
//   - A tool is called SERVER__TOOL here. No server can take the name of another's tool, or of one of skillpm's own.
//   - A server that is unreachable or ends affects no other: its tools answer with an error, and the next call connects
//     again.
//   - Credentials stay with their server: the headers of a URL are sent to its host only, and over plain HTTP only on
//     this machine.
//   - Everything is bounded: the number of servers and tools; the size of definitions, messages, and answers; how often
//     a list is requested, progress is reported, and a server asks; how long shutting down takes.
//   - Programs and their children end with this process, even if it is killed. On Linux, that includes all processes
//     that detached themselves.
package gateway
