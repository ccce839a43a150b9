// Package scope is the one place that knows where skillpm keeps things on the disk.
//
// [Paths] are the directories of the user and of the machine; a [Scope] is a place that packs are installed into: a
// project or the user. The rules it keeps:
//
//   - The environment, the home directory and the operating system are parameters, never read here.
//   - XDG base directories count where they are absolute, as their specification says; relative ones are ignored.
//   - The enterprise directory is a constant of the operating system: no variable moves it.
//   - A project is the nearest directory upward with a skillpm.yaml. The home directory is never one, nothing above it
//     is looked at from inside it, and the user scope's own files are not one either.
//
// Nothing is created here.
package scope
