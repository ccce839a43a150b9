// Command skillpm is the package manager for agent skills.
package main

import (
	"os"

	"github.com/skillpm/skillpm/pkg/cli"
)

// version is set by the release build; a `go install` build says what the module system knows.
var version string

// releaseKeys are set by the release build: the public keys that sign releases, separated by commas.
var releaseKeys string

func main() { os.Exit(cli.Main(os.Args, version, cli.WithReleaseKeys("skillpm", releaseKeys))) }
