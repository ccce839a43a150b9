// Package agent is the table of agents: their ids, the directories from which they read skills, the profile that their
// skills follow, and the directory that shows that an agent is in use. Whatever takes the id of an agent, such as
// --agent, --host, and --profile, looks it up here. Start reading at [Lookup].
//
// The rules it keeps:
//
//   - Directories are slash-separated, and relative to the project or to the home directory.
//   - Nothing here reads the disk or the environment; callers pass in functions that do.
//   - An agent that reads the shared directory .agents/skills is listed with that one, so that a skill is linked once
//     for all of them.
//
// This package may change at any time.
package agent
