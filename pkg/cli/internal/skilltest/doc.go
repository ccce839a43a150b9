// Package skilltest runs the offline tests of a skill: the YAML files in its tests directory, and the trigger queries
// in its evals directory.
//
// A trigger query passes if the search that also serves agents finds the right skill for a prompt. A case of a test
// file activates the skill and compares its text, simulates tool calls while it is active, or runs one of its
// scripts. The package keeps these rules:
//
//   - Cases are isolated. Each has a copy of the skill, a project, a home directory, and state, which are removed at
//     its end. No other skill is available, whatever is installed.
//   - Tests use the production code: packages runtime and session activate skills, check calls, and run scripts, as for
//     all commands.
//   - No tool is called. An allowed call gets the reply from the case, and a denied one gets none.
//   - Programs that scripts need can be mocked: a mocked command comes first in PATH, prints what the case defines, and
//     records its arguments.
//   - Test files are parsed strictly: unknown content is an error with its line.
//
// Start with [RunSkill]. This package may change at any time.
package skilltest
