package govern

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newEnterprise(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "enterprise",
		Short: "Sync this machine's enterprise layer",
		Long: `The enterprise layer contains the skills that an administrator sets up for all users of a
machine. A fleet list is a signed release of a skillpm.yaml, its skillpm.lock, and
optionally a policy.yaml. Machines sync their enterprise layer with a fleet list.`,
		Example: `  sudo skillpm enterprise sync
  skillpm enterprise sync --check
  skillpm enterprise publish ./fleet --to oci://registry.example/acme/fleet`,
		RunE: console.UnknownCommand,
		Args: cobra.ArbitraryArgs,
	}
	for _, c := range []*cobra.Command{newSync(a), newSyncPublish(a)} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func newSync(a *app) *cobra.Command {
	var o skillpm.SyncOptions
	var check bool
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Sync the enterprise layer with its source",
		Long: `After a sync, the enterprise layer matches the newest fleet list. Only the administrator's
config.yaml sets the source of the list and the trusted keys:

  sync:
    source: "git+https://git.example/acme/fleet.git"
    keys: [keys/acme.signers]

A list takes effect as a whole or not at all. If the source is unreachable (exit code 8),
a signature is invalid, or a policy denies a pack (7), the layer does not change. Without
--allow-downgrade, skillpm never returns to an older list.

The command needs administrator rights. A timer can run the command with --quiet, so that
the command prints nothing if nothing changed. --check needs neither administrator rights nor network
access.`,
		Example: `  sudo skillpm enterprise sync
  skillpm enterprise sync --check
  sudo skillpm enterprise sync --dry-run`,
		Args: console.Need(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.Paths.Home == "" && a.OS != "windows" {
				a.Paths.Home = "/" // a system service may not have a home directory, and does not need one
			}
			options, err := a.Options()
			if err != nil {
				return err
			}
			c := skillpm.NewEnterpriseLayer(options)
			a.Closers = append(a.Closers, c.Close)
			if check {
				if o != (skillpm.SyncOptions{}) {
					return diag.Errorf(diag.Usage, "--check cannot be used with other flags")
				}
				s, err := c.Check(cmd.Context())
				if err != nil {
					return err
				}
				return a.printStanding(s)
			}
			r, err := c.Sync(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printSynced(r)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&check, "check", false, "exit 3 if the layer differs from the last verified list")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would change, without changing it")
	f.BoolVar(&o.Offline, "offline", false, "repair the layer without network access")
	f.BoolVar(&o.AllowDowngrade, "allow-downgrade", false,
		"accept an older list, or different content under the same version")
	return cmd
}

// printSynced prints the result of a sync; with --quiet only changes.
func (a *app) printSynced(r *skillpm.SyncReport) error {
	if r.Changed || !a.Quiet { // otherwise a timer would repeat it at every run
		a.Warnings(r.Warnings)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	if !r.Changed {
		a.Note("Already up to date with %s %s.", r.Source, r.Version)
		return nil
	}
	marks := map[string]string{
		skillpm.SyncInstalled: "+", skillpm.SyncUpdated: "~", skillpm.SyncRestored: "=",
		skillpm.SyncRemoved: "-",
	}
	for _, p := range r.Packs {
		mark, changed := marks[p.Action]
		switch {
		case !changed:
		case p.Action == skillpm.SyncRemoved:
			fmt.Fprintf(a.Stdout, "%s %s %s\n", mark, p.Pack, p.Previous)
		case p.Previous != "" && p.Previous != p.Version:
			fmt.Fprintf(a.Stdout, "%s %s %s → %s\n", mark, p.Pack, p.Previous, p.Version)
		default:
			fmt.Fprintf(a.Stdout, "%s %s %s\n", mark, p.Pack, p.Version)
		}
	}
	if r.Policy == skillpm.SyncPolicyReplaced {
		fmt.Fprintln(a.Stdout, "~ machine policy")
	}
	verb := "Synced with"
	if r.DryRun {
		verb = "Dry run: would sync with"
	}
	a.Note("%s %s %s.", verb, r.Source, r.Version)
	return nil
}

// printStanding prints the state of the layer.
func (a *app) printStanding(s *skillpm.SyncStatus) error {
	var failed error
	if !s.InStep {
		failed = console.Reported{Exit: diag.Invalid}
	}
	if a.JSON {
		if err := a.PrintJSON(s); err != nil {
			return err
		}
		return failed
	}
	if s.InStep {
		if !a.Quiet {
			fmt.Fprintf(a.Stdout, "Up to date with %s %s, last synced %s ago\n",
				s.Source, s.Version, time.Duration(s.Age)*time.Second)
		}
		return nil
	}
	if len(s.Problems) > 1 {
		for _, p := range s.Problems {
			fmt.Fprintln(a.Stdout, p)
		}
	}
	return &skillpm.OutOfStepError{Problems: s.Problems}
}
