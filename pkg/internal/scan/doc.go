// Package scan finds what is hostile or risky in the bytes of a skill's files: instructions and commands that an
// attacker would need, text that people cannot see, secrets, and files that nobody can read. It knows nothing of
// severities or of rules' ids: it says what is there and where, and the caller decides what that means.
//
// The rules it keeps:
//
//   - It is pure and takes linear time, whatever the text holds. One pass over the bytes looks for several hundred
//     short literals; only where one of them stands is anything looked at more closely, and never more than a bounded
//     number of bytes around it.
//   - A false alarm costs more than a missed trick: what well-kept skills write for good reasons is not found, and what
//     is only named in prose is not found where a command or an address is meant.
//   - A secret never appears in what it returns, nor does a character that a terminal would act on.
//   - "Nothing found" means no more than that. Nothing here says that a file is safe.
package scan
