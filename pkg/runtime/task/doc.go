// Package task runs skills apart from the conversation. The skill's text is the only input of a task.
//
// A [Store] is a directory with one directory for each task: the request (request.json), the state (state.json), the
// input, and finally the output and errors. Submit returns at once; a separate process in its own session runs the
// task. The rules it keeps:
//
//   - Isolation: the command that the configuration names for the kind of task gets the body on its standard input, a
//     clean environment, and an empty working directory. It gets no session, conversation, or state of the submitter.
//     Its result is its output and its exit code.
//   - The runner holds a kernel lock on a task from before the task becomes visible until it has ended. No other
//     process takes that lock exclusively. So the lock is free exactly if no runner lives, and waiting for a task is
//     waiting for its lock.
//   - A task that has not ended and has no runner is lost, for example because the runner was killed. The next process
//     that reads the task marks it.
//   - Only the runner changes a task's state while it lives. To cancel a task, other processes create a file, and
//
// signal
//
//	  the runner to look for it.
//	- The end of a task is reported once: to a command, as a line in a file, or to a function in a process that waits.
//	- Files are written atomically, decoded strictly with size limits, and readable only by their owner.
//
// A task has the permissions of its command. Confining it is up to that command.
//
// Start reading at [Store.Submit] and [Store.Run]. This package may change at any time.
package task
