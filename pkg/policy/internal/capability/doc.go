// Package capability finds out what a skill is able to do, and what it brings along, by looking at its files: scripts,
// native binaries, hooks, commands in its text, and the tools that it asks for. Nothing of a skill is run.
package capability
