// Command skillpm-keyless is skillpm with a checker of signatures that were made with certificates for identities, as
// Sigstore issues them. Nothing else is different.
package main

import (
	"os"

	"github.com/skillpm/skillpm/cmd/skillpm/internal/cli"
	skillrun "github.com/skillpm/skillpm/pkg/run"
)

// version is set by the release build.
var version string

func main() {
	if code, helper := skillrun.Enter(os.Args); helper {
		os.Exit(code) //nolint:forbidigo // this is main
	}
	system := cli.OS(version)
	system.Keyless = open
	os.Exit(int(cli.Run(system, os.Args[1:]))) //nolint:forbidigo // this is main
}
