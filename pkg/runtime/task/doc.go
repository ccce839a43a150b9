// Package task runs skills away from whoever asked for them: a fork is a task, with the skill's text as its input and
// nothing else.
//
// A [Store] is a directory with one directory a task, which holds what was asked for (request.json), how it stands
// (state.json), its input, and in the end its output and errors. Submit returns at once; a process of its own, in a
// session of its own, runs the task. The rules it keeps:
//
//   - Isolation: the command that a configuration names for the type of task gets the body on its standard input, a
//     clean environment, and an empty directory to work in. No session, conversation or state of whoever asked reaches
//     it; the result is what it prints, and its exit code.
//   - The runner holds the kernel's lock on a task from before the task can be seen until it has ended, and nobody else
//     ever takes that lock for itself. So a lock that is free says that no runner lives, whatever has become of its
//     process id, and waiting for a task is waiting for its lock.
//   - A task that has not ended and has no runner is lost: killed, or the machine was turned off. Who looks next says
//     so.
//   - Only the runner changes a task's state while it lives. Cancelling is a file that the runner looks for and a
//     signal that has it look.
//   - The end of a task is told once: by a command, by a line in a file, or to a function in the process that waits.
//   - Files are written whole, read strictly and within bounds, and only their owner can read them.
//
// What a task may read, write and reach is what its command may: an agent confines itself, or is given a command that
// confines it.
//
// Start reading at [Store.Submit] and [Store.Run]. This package may change at any time.
package task
