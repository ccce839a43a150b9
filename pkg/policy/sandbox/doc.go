// Package sandbox confines a command: to the files that it may read and write, and to the network that it may reach.
//
// It does so on Linux, with what an ordinary user has. The program is started again as a helper ([Enter]) in namespaces
// of its own, for users, mounts, processes, System V objects and, unless everything may be reached, for the network.
// The helper
//   - builds a root directory that holds what may be read and written and nothing else, what may only be read mounted
//     so;
//   - restricts itself by Landlock to the same files, to the ports that it needs, and to its own processes' signals and
//     sockets;
//   - gives up what it may do to its namespaces, and forbids itself system calls that lead around all this;
//   - starts the command, and is the parent of all that loses its own. With it, all of the command ends.
//
// Where only some hosts may be reached, the command finds a proxy on its own loopback (HTTP CONNECT, plain HTTP,
// SOCKS5); behind it is the program that asked for all this, which connects to what is listed and to nothing else.
//
// Rules reach the helper over a socket, and nothing of the environment that the command gets is looked at. What the
// machine does not have is an [UnavailableError]: nothing is ever confined less than it should be without a word.
//
// Start with [New] and [Enter]. This package may change at any time.
package sandbox
