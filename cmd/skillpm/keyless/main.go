// Command skillpm-keyless is skillpm with a checker of signatures that were made with certificates for identities, as
// Sigstore issues them. Nothing else is different.
package main

import (
	"os"

	"github.com/skillpm/skillpm/pkg/cli"
)

// version is set by the release build.
var version string

func main() {
	system := cli.OS(version)
	system.Keyless = open
	os.Exit(cli.Main(system, os.Args)) //nolint:forbidigo // this is main
}
