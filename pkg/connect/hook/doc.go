// Package hook answers the hooks of agents: it reads an event as JSON, and writes the answer in the agent's format.
//
// The rules it keeps:
//
//   - An agent is a row of a table: the names of its events, the names of their fields, and the form of a denial. No
//     other code depends on the agent.
//   - Skills that the agent loads without skillpm are learned from its events, and recorded in the session with the
//     agent's id before the call proceeds: see [session.Session.Observe]. They end with the turn or the subagent, or if
//     the call fails or is refused. A turn lasts until no work goes on in the background.
//   - Calls in one message, whose hooks some agents run at the same time, wait for the decision about an activation.
//   - A call that an active skill does not allow is denied in the agent's form, with the names of tool and skill. Every
//     other call gets an empty answer: never that it is allowed, which would skip the agent's question to the user.
//   - A tool call whose event cannot be parsed is denied, unless the policy allows it. Any other event that cannot be
//     parsed is an error that stops nothing.
//   - Exit code 2 is a denial for some agents and is never used: a denial is JSON.
//   - Nothing is opened before it is needed: if no skill is active, a call only looks for the session's file.
//
// Start with [Answer]. This package may change at any time.
package hook
