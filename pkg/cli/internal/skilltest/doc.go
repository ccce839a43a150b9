// Package skilltest runs the tests that a skill brings along: the YAML files of its tests directory.
//
// A case activates the skill and compares its text, tries calls of tools while it is active, or runs one of its
// scripts. It keeps these rules:
//
//   - A case is alone. It has a copy of the skill, a project, a home directory and a state of its own, which go when it
//     ends; the skill is the only one there is, whatever is installed.
//   - What is tested is what is in force: skills are activated, calls allowed and scripts run by packages host and
//     session, as every command does it.
//   - No tool is called. A call that is allowed gets the reply that the case has for it, one that is refused gets none.
//   - Programs that scripts need can be replaced: a mocked command stands first in PATH, says what it is told to, and
//     what it was called with is kept.
//   - A file of tests is read strictly: what is not known is an error with its line.
//
// Start with [Run]. This package may change at any time.
package skilltest
