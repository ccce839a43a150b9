// Package agent is the table of agents: their ids, skill directories, and profiles, and the directories that show that
// an agent is in use. All flags that accept agents, such as --agent, --agent, and --profile, use this table. Start
// reading at [Lookup].
//
// The rules it keeps:
//
//   - Directories are slash-separated, and relative to the project or to the home directory.
//   - The package does not access the disk or the environment; callers pass functions that do.
//   - An agent that reads the shared directory .agents/skills is listed with it, so that a skill is linked once for all
//     such agents.
//
// This package may change at any time.
package agent
