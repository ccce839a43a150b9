// Package run starts the commands and scripts of skills, and leaves none of their processes behind.
//
// The rules it keeps:
//
//   - A command has its own session and process group, and no terminal. At its limit, or when the context ends, the
//     group gets SIGTERM, and after a grace period SIGKILL. When a command exits, the processes that it left running
//     get the same treatment. So no process outlives the command.
//   - On Linux it also finds processes that left the group: by their session, their parents, and a mark in their
//     environment. A process that escapes all of these is found if this process has called [Adopt]. Other Unix systems
//     only end the group, and Windows ends a job.
//   - Output is read to its end, but at most for the grace period after the command's exit. Of each stream a limited
//     number of bytes is kept, from its beginning and its end; a line between them has the number of omitted bytes.
//   - The caller sets the environment. [Environment] makes one without secrets.
//   - Arguments are never inserted into the text of a command line. See [Script] and [Shell].
//
// A command has the user's permissions unless [Command].Sandbox restricts it. Start reading at [Run].
package run
