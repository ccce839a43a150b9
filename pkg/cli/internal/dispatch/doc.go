// Package dispatch implements the dispatch protocol, version 3: a request line names one skill and its arguments, and
// the reply, as text or JSON, reports the result to another agent. Start reading at [Execute].
//
// It keeps these rules:
//   - Every line gets a reply, even an invalid one, because the caller is a model that can act on the reply.
//   - A reply is success, pending, error, or timeout. The type of an error determines what the caller should do.
//   - One line runs one skill. Several steps are the caller's workflow, and are rejected.
//   - A skill with a command is executed. For other skills, the reply contains the instructions.
//   - Output is inline, or the path of a file if it is long. Output files are always new.
package dispatch
