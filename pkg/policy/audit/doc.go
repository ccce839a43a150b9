// Package audit keeps the log of what was done with skills: activations, scripts, hooks, refusals, tasks.
//
// The log is a file of JSON lines, one a record, which is only ever appended to. The rules it keeps:
//
//   - Every writer holds the kernel's lock while it writes, and writes a line with one call: any number of processes
//     share a log, and none loses a line.
//   - `seq` counts the records, and `prev` is the SHA-256 digest of the line before, so that no line in the middle can
//     be changed, left out or put in without a trace. What was cut off at the end is not seen: export the last digest
//     for that.
//   - What a killed writer left of a line stays where it is. The next record begins on a line of its own and says
//     `gap`.
//   - Secrets do not get in: what somebody wrote is passed through redact, and of what a command printed only the
//     digest and the size are kept.
//   - Nothing in a record is unbounded: see the limits of this package.
//
// A line that was written survives a crash of the process. It survives one of the machine where [Options].Sync asks for
// it.
//
// Start with [Open] and [Log.Write]; [Verify] reads a log back. This package may change at any time.
package audit
