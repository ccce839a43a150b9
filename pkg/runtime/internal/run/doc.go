// Package run starts the commands and scripts of skills, and sees to it that nothing of them stays.
//
// It keeps these rules:
//   - A command has a process group and a session of its own, and no terminal. At its limit, or when the context ends,
//     the group gets SIGTERM, a moment later SIGKILL. When a command ends by itself, what it left running has that
//     moment to write what it still holds, and then ends in the same way: nothing that a skill starts outlives the
//     command.
//   - On Linux processes that left the group are found as well: by their session, by their parents, and by a mark in
//     their environment. One that did all of it, left its parents and wiped its environment, is found if this process
//     has called [Adopt]. Elsewhere it is the group that ends; on Windows a job.
//   - Output is read until its end, whoever holds the pipe, and never waited for longer than that moment after the
//     command has ended. Of each stream a bounded number of bytes is kept, its beginning and its end, with a line
//     between them that says how much is missing.
//   - The environment is what the caller gives. [Environment] makes one without secrets.
//   - Nothing is put into a command line as text: arguments are arguments. See [Script] and [Shell].
//
// What a command may read, write and reach is what the user may, or what its [Command].Sandbox says.
package run
