// Package audit keeps the audit log: the record of activations, scripts, hooks, denials, tasks, and changes.
//
// The log is an append-only file of JSON lines, one for each record. The rules it keeps:
//
//   - Writers hold a kernel lock, and write each line with one system call. So any number of processes can share a log
//     without losing a line.
//   - `seq` numbers the records, and `prev` is the SHA-256 digest of the previous line, so that changed, missing, or
//     inserted lines are detected. To detect a truncated end as well, export the last digest.
//   - An incomplete line of a killed writer stays in the file. The next record starts on a new line and has `gap` set.
//   - Secrets are removed from texts by redact. Of the output of commands, only the digest and the size are recorded.
//   - The size of every record is limited: see the limits of this package.
//
// A written line survives a crash of the process, and with [Options].Sync also a crash of the machine.
//
// Start with [Open] and [Log.Write]; [Verify] checks a log. This package may change at any time.
package audit
