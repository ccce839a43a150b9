// Package mcpserver serves the skills of a session over the Model Context Protocol: as tools for the model, prompts for
// the user, and resources for programs. It speaks https://modelcontextprotocol.io/specification/2026-07-28 and every
// earlier version since 2024-11-05, with the extension for skills, SEP-2640.
//
// The rules it keeps:
//
//   - The only state between requests is that of a session, which is on disk. Skills, settings, and policies are read
//     for each request.
//   - Package runtime checks every skill, as it does for the commands: policies, triggers, sessions, and paths forbid
//     the same here.
//   - The names and formats of an agent are data of its profile, and skillpm's own are data of native.yaml. No code
//     depends on the profile.
//   - The model sees a skill's instructions in every client: as text and, if the agent has a structured format, in that
//     as well, because some clients show nothing else.
//   - A tool's error is a result that lists the alternatives. A protocol error is for programs.
//   - A skill that only users may start is neither a resource nor in a list for models.
//   - Every request over HTTP needs a token. Foreign origins and hosts are refused, and other users if the token is the
//     user's own.
//   - Everything is bounded: requests, arguments, outputs, pages, sessions, and the time of an answer.
//
// Start with [New] and [Server.Run]. This package may change at any time.
package mcpserver
