package govern

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newSync(a *app) *cobra.Command {
	var o skillpm.SyncOptions
	var check bool
	cmd := &cobra.Command{
		Use:     "sync",
		Short:   "Keep the enterprise layer in step with its source",
		GroupID: "govern",
		Long: `Make the enterprise layer of this machine exactly what the newest list of its
source says. A list is a release that somebody signed: a skillpm.yaml, the
skillpm.lock of exactly those packs, and perhaps a policy.yaml. Where it comes from
and whose signatures count, the administrator's config.yaml says, and nothing else:

  sync:
    source: "git+https://git.example/acme/fleet.git"
    keys: [keys/acme.signers]

All of a list comes into force at once, or nothing does: where the source can't be
reached (exit 8), a signature does not hold, or a policy refuses a pack (7), the
layer stays as it is. It never goes back to an older list. It needs the
administrator's rights, is meant for a timer, and says nothing with --quiet where
nothing changed. --check needs neither rights nor network.`,
		Example: `  sudo skillpm sync
  skillpm sync --check
  sudo skillpm sync --dry-run`,
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
					return diag.Errorf(diag.Usage, "--check looks at this machine only, and goes with no other flag")
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
	cmd.AddCommand(newSyncPublish(a))
	f := cmd.Flags()
	f.BoolVar(&check, "check", false, "say whether the layer is what was last verified; exit 5 if it is not")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would change, and change nothing")
	f.BoolVar(&o.Offline, "offline", false, "ask nobody: put right what is in force")
	f.BoolVar(&o.AllowDowngrade, "allow-downgrade", false,
		"take a list that is older than the one in force, or another one of its version")
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
		a.Note("the enterprise layer is in step with %s %s", r.Source, r.Version)
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
			fmt.Fprintf(a.Stdout, "%s %s %s\n", mark, console.Printable(p.Pack), console.Printable(p.Previous))
		case p.Previous != "" && p.Previous != p.Version:
			fmt.Fprintf(a.Stdout, "%s %s %s → %s\n", mark, console.Printable(p.Pack), console.Printable(p.Previous),
				console.Printable(p.Version))
		default:
			fmt.Fprintf(a.Stdout, "%s %s %s\n", mark, console.Printable(p.Pack), console.Printable(p.Version))
		}
	}
	if r.Policy == skillpm.SyncPolicyReplaced {
		fmt.Fprintln(a.Stdout, "~ the machine's policy")
	}
	verb := "the enterprise layer is in step now with"
	if r.DryRun {
		verb = "nothing was changed; it would be in step with"
	}
	a.Note("%s %s %s", verb, r.Source, r.Version)
	return nil
}

// printStanding prints the state of the layer.
func (a *app) printStanding(s *skillpm.SyncStatus) error {
	var failed error
	if !s.InStep {
		failed = console.Reported{Exit: diag.Conflict}
	}
	if a.JSON {
		if err := a.PrintJSON(s); err != nil {
			return err
		}
		return failed
	}
	if s.InStep {
		if !a.Quiet {
			fmt.Fprintf(a.Stdout, "in step with %s %s; the source was last asked %s ago\n",
				console.Printable(s.Source), console.Printable(s.Version), time.Duration(s.Age)*time.Second)
		}
		return nil
	}
	if len(s.Problems) > 1 {
		for _, p := range s.Problems {
			fmt.Fprintln(a.Stdout, console.Printable(p))
		}
	}
	return &skillpm.OutOfStepError{Problems: s.Problems}
}
