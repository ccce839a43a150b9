// Command skillpm is the package manager for agent skills.
package main

import (
	"os"

	"github.com/skillpm/skillpm/cmd/skillpm/internal/cli"
	"github.com/skillpm/skillpm/pkg/diag"
	skillrun "github.com/skillpm/skillpm/pkg/run"
)

// version is set by the release build; a `go install` build says what the module system knows.
var version string

func main() { os.Exit(int(run(cli.OS(version)))) }

// run is the process but for its end: the command line, or what confines a script.
func run(system cli.System) diag.Code {
	if code, helper := skillrun.Enter(os.Args); helper {
		return diag.Code(code)
	}
	return cli.Run(system, os.Args[1:])
}
