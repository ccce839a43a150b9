// Command skillpm-keyless is skillpm that also signs with certificates for the identities of CI jobs, as Sigstore issues
// them, and verifies such signatures. Nothing else is different.
package main

import (
	"os"

	"github.com/skillpm/skillpm/pkg/cli"
)

// version and releaseKeys are set by the release build; releaseKeys are the public keys that sign releases.
var version, releaseKeys string

func main() {
	//nolint:forbidigo // this is main
	os.Exit(cli.Main(os.Args, version, cli.WithIdentityVerifier(open), cli.WithIdentitySigner(openSigner),
		cli.WithReleaseKeys("skillpm-keyless", releaseKeys)))
}
