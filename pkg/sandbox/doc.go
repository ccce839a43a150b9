// Package sandbox confines a command: to the files that it may read and write, and to the network that it may reach.
package sandbox
