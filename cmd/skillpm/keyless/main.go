// Command skillpm-keyless is skillpm with a checker of signatures that were made with certificates for identities, as
// Sigstore issues them. Nothing else is different.
package main

import (
	"os"

	"github.com/skillpm/skillpm/pkg/cli"
)

// version and releaseKeys are set by the release build; releaseKeys are the public keys that sign releases.
var version, releaseKeys string

func main() {
	//nolint:forbidigo // this is main
	os.Exit(cli.Main(os.Args, version, cli.WithIdentityVerifier(open),
		cli.WithReleaseKeys("skillpm-keyless", releaseKeys)))
}
