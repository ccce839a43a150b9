// Package agent knows the agents that read skills from directories: what they are called, where they look in a project
// and in the home directory, which profile their skills follow, and how to tell that a machine uses one. Whatever takes
// the id of an agent, such as --agent, --host, and --profile, looks it up here with [Lookup].
//
// It is a table and pure functions over it. Directories are slash-separated and relative to the project or to the home
// directory; nothing here touches the disk or the environment. An agent that reads the shared `.agents/skills` is
// listed with that, so that a skill is linked once for all of them.
package agent
