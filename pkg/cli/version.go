package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

func newVersion(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  skillpm version
  skillpm version --json
  skillpm -V`,
		RunE: func(*cobra.Command, []string) error {
			v := console.BuildVersion(a.Version)
			if a.JSON {
				return a.PrintJSON(console.VersionDocument{
					Version: v, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(a.Stdout, "skillpm %s (%s, %s/%s)\n", v, runtime.Version(), runtime.GOOS,
				runtime.GOARCH)
			return err
		},
	}
}
