package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

func newVersion(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: "about",
		Example: "  skillpm version\n  skillpm version --json",
		RunE: func(*cobra.Command, []string) error {
			v := console.BuildVersion(a.Version)
			if a.JSON {
				return a.PrintJSON(map[string]string{
					"version": v, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(a.Stdout, "skillpm %s (%s, %s/%s)\n", v, runtime.Version(), runtime.GOOS,
				runtime.GOARCH)
			return err
		},
	}
}
