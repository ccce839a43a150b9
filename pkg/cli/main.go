package cli

import skillrun "github.com/skillpm/skillpm/pkg/runtime/run"

// Main runs the command line args, of which the first is the program's name, and returns the exit code of the process.
// A process that was started to confine a script becomes that script before anything else happens.
func Main(s System, args []string) int {
	if code, helper := skillrun.Enter(args); helper {
		return code
	}
	return int(Run(s, args[1:]))
}
