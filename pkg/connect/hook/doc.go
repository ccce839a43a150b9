// Package hook answers the hooks of agents: an event of the agent goes in as JSON, and what the agent is told comes
// out.
//
// The rules it keeps:
//
//   - An agent is a row of a table: what its events are called, where in them things are, how a call is denied. Nothing
//     else asks which agent it is.
//   - Skills that the agent gives to its model itself are learned from its events, and entered into the session of the
//     agent's own id before the call goes ahead: see [session.Session.Observe]. They end with the turn, with the
//     subagent, or where the call failed.
//   - A call that an active skill does not allow is denied in the agent's form, naming tool and skill. To all else
//     nothing is said: never that a call is allowed, which would take the question from the user.
//   - An event that cannot be read is a denial where it asks for one, unless the policy says open; everywhere else it
//     is an error that stops nothing.
//   - Exit code 2 means a denial to some agents, and is never used: a denial is JSON.
//   - What is not needed is not opened: where no skill is active, a call costs a look for the session's file.
//
// Start with [Answer]. This package may change at any time.
package hook
