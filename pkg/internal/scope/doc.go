// Package scope defines the paths of skillpm's files on disk.
//
// [Paths] are the directories of the user and the machine. A [Scope] is where packs are installed: a project, the user,
// or the machine. The rules it keeps:
//
//   - The environment, the home directory, and the operating system are parameters.
//   - XDG base directories count if they are absolute, as their specification requires.
//   - The enterprise directory is constant for each operating system; no variable changes it.
//   - A project is the nearest directory upward with a skillpm.yaml. A new one is the root of the git repository. The
//     home directory and the directories above it are never projects, and neither are the user scope's own files.
//
// The package does not create files.
package scope
