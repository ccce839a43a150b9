// Package dispatch answers the dispatch protocol, version 3: a line that names one skill and its arguments, and a reply
// that says how it went, for another agent to read as text or as JSON.
//
// It keeps these rules:
//   - Every line has a reply, also one that can't be read: the other side is a model, which can do something about a
//     reply.
//   - A reply is success, pending, error or timeout. What an error's type is decides what the caller should do.
//   - One line is one skill. Several steps are the caller's workflow, and are refused.
//   - A skill with a command is executed; of one without, the reply holds the instructions.
//   - What the caller is to show comes back inline, or as the path of a file if it is long. A file is new, always.
package dispatch
