// Package capability finds what a skill's files make it able to do, and what they contain: scripts, native binaries,
// hooks, commands in its text, and requested tools. It runs nothing. What it cannot inspect counts as able to do
// everything. Start with [Of].
package capability
