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
	os.Exit(cli.Main(os.Args, version, cli.WithIdentityVerifier(open))) //nolint:forbidigo // this is main
}
