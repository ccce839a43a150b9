// Package mcpserver shows the skills of a session over the Model Context Protocol: as tools for the model, prompts for
// the user, and resources for programs, https://modelcontextprotocol.io/specification/2026-07-28 and back to
// 2024-11-05, with the extension for skills, SEP-2640.
//
// The rules it keeps:
//
//   - Nothing is remembered between two requests but what is active in a session, which is on disk: skills, settings
//     and policies count as they are when a request comes.
//   - Every skill goes through the same checks as for the commands: package runtime. What a policy, a trigger, a
//     session or a path forbids is forbidden here.
//   - Names and forms of a host are data of its profile; skillpm's own are data of native.yaml. No code asks which
//     profile it is.
//   - The model sees a skill's instructions in every client: they are text, and where a host has a structured form they
//     are in that, too, because there are clients that show nothing else.
//   - An error of a tool is a result that says what there is instead. An error of the protocol is for programs.
//   - What belongs to a user only, a skill that no model may start, is neither a resource nor in a list for models.
//   - Over HTTP only this machine is served, unless there is a token. Foreign origins and hosts are refused.
//   - Nothing is unbounded: requests, arguments, outputs, pages, sessions, and how long an answer takes.
//
// Start with [New] and [Server.Run]. This package may change at any time.
package mcpserver
