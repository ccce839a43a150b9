// Package sandbox confines a command to the files that it may read and write, and to the network hosts that it may
// reach.
//
// It works on Linux without special privileges. The program starts itself again as a helper ([Enter]) in new namespaces
// for users, mounts, processes, System V objects, and, unless everything may be reached, the network. The helper
//
//   - builds a root directory with only the allowed files, and mounts those read-only that may only be read;
//   - restricts itself with Landlock to the same files, to the ports that it needs, and to its own processes' signals
//     and sockets;
//   - drops its privileges in the namespaces, and blocks system calls that could evade these restrictions;
//   - starts the command, becomes the parent of its orphans, and ends all of its processes with it.
//
// If only some network hosts may be reached, the command gets a proxy on its own loopback interface (HTTP CONNECT,
// plain HTTP, SOCKS5). The program that started the helper serves the proxy, and connects only to the listed hosts.
//
// The helper gets its rules over a socket and ignores the command's environment. If the machine lacks a feature, the
// result is an [UnavailableError]: a command is never silently confined less than its rules demand.
//
// Start with [New] and [Enter]. This package may change at any time.
package sandbox
