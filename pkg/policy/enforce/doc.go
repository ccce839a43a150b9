// Package guard is the one door through which everything goes that a policy has a say in: packs that are installed, skills
// that are listed and activated, their scripts, and calls of tools. It reads the policies of the machine, of the user and of
// the project, what was approved and what was denied, and decides by them.
package enforce
