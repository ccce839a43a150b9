// Package capability finds what a skill's files make it able to do, and what they contain: scripts, native binaries,
// hooks, commands in its text, requested tools, the hosts that its code reaches, and the secrets that it reads. It runs
// nothing. What it cannot inspect counts as able to do everything. Start with [Of], or with [Builder] for files that are
// in memory. It belongs to the room policy; this package may change at any time.
package capability
