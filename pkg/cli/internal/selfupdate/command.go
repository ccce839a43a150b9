package selfupdate

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// Commands returns the commands of this package.
func Commands() []console.Command {
	return []console.Command{{Name: "self-update", New: func(a *console.App) *cobra.Command {
		executable, err := os.Executable()
		if err == nil {
			executable, err = pathx.Resolve(executable)
		}
		info, _ := debug.ReadBuildInfo() // nil without modules
		return newCommand(&command{App: a, executable: executable, unknown: err, info: info})
	}}}
}

// Documents returns what the command prints with --json.
func Documents() []console.Document {
	return []console.Document{{Command: "self-update", Types: []any{Document{}}}}
}

// command is an invocation of self-update.
type command struct {
	*console.App
	executable string
	unknown    error // why the executable is unknown
	info       *debug.BuildInfo
	mirror     string
	check      bool
}

// newCommand returns the command. It is hidden if a package manager updates the program.
func newCommand(c *command) *cobra.Command {
	manager, managed := DetectManager(c.executable, c.info, c.Version != "")
	cmd := &cobra.Command{
		Use:    "self-update [VERSION]",
		Short:  "Update skillpm itself",
		Hidden: managed,
		Long: `The command replaces this program with the newest release, or with VERSION. First, skillpm
verifies that a release key in this program signed the checksums of the release, and that
the download matches its checksum. To install an older release, name its VERSION.

If a package manager installed skillpm, the command does not update skillpm. It prints how
to update skillpm with the package manager.`,
		Example: `  skillpm self-update
  skillpm self-update --check    # exit 3 if a newer release exists
  skillpm self-update 1.2.3`,
		Args: console.Need(0, 1, "one VERSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if managed {
				return manager.refuse()
			}
			return c.run(cmd, args)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.BoolVar(&c.check, "check", false, "exit 3 if a newer release exists, without installing the release")
	f.StringVar(&c.mirror, "mirror", Releases, "download releases from `URL`, with files in URL/download/v1.2.3")
	return cmd
}

// Document is the result of skillpm self-update --json.
type Document struct {
	Version  string `json:"version"`  // Version of skillpm before the update.
	Release  string `json:"release"`  // The newest or the requested release.
	Outdated bool   `json:"outdated"` // Whether the release is newer than the version.
	Updated  bool   `json:"updated"`  // Whether the program is the release now.
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	u, current, err := c.updater()
	if err != nil {
		return err
	}
	r := Document{Version: c.Version}
	switch {
	case len(args) == 1 && c.check:
		return diag.Errorf(diag.Usage, "--check cannot be used with VERSION %q", args[0]).
			WithHint("leave out the version: --check compares with the newest release")
	case len(args) == 1:
		r.Release = strings.TrimPrefix(args[0], "v")
	default:
		if r.Release, err = u.Latest(cmd.Context()); err != nil {
			return err
		}
	}
	release, err := semver.StrictNewVersion(r.Release)
	if err != nil {
		return diag.Errorf(diag.Usage, "%q is not the version of a release", args[0]).
			WithHint("use a version such as 1.2.3")
	}
	r.Outdated = release.GreaterThan(current)
	if !c.check && (r.Outdated || len(args) == 1 && !release.Equal(current)) {
		c.Note("Downloading skillpm %s from %s", r.Release, c.mirror)
		if err := u.Update(cmd.Context(), r.Release); err != nil {
			return err
		}
		r.Updated = true
	}
	return c.print(r)
}

// updater returns the updater and the version of this program.
func (c *command) updater() (*Updater, *semver.Version, error) {
	if c.unknown != nil {
		return nil, nil, diag.Errorf(diag.Internal, "cannot find the executable of skillpm: %w", c.unknown)
	}
	current, err := semver.StrictNewVersion(c.Version)
	if err != nil || c.Release.Keys == "" {
		return nil, nil, diag.Errorf(diag.Denied,
			"cannot update skillpm: this build is not a release, or does not contain a release key").
			WithHint("run %q, or install a release from %s", "go install "+modulePath+"/cmd/skillpm@latest", Releases)
	}
	if err := CheckMirror(c.mirror); err != nil {
		return nil, nil, err
	}
	transport, err := c.transport()
	if err != nil {
		return nil, nil, err
	}
	return &Updater{
		Mirror: c.mirror, Program: c.Release.Program, Keys: c.Release.Keys, Executable: c.executable,
		OS: runtime.GOOS, Arch: runtime.GOARCH, Version: c.Version,
		Client: &http.Client{
			Transport: httpx.Patient(httpx.Confine(transport, nil), retries), CheckRedirect: httpx.CheckRedirect,
		},
	}, current, nil
}

// transport returns the transport of all downloads, which trusts the certificates of the user's settings.
func (c *command) transport() (http.RoundTripper, error) {
	if c.Paths.Home == "" && c.Config == "" { // without a home directory, there are no settings
		return httpx.NewTransport(), nil
	}
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	sources, err := client.UserSources()
	if err != nil {
		return nil, err
	}
	return sources.HTTP().Transport, nil
}

func (c *command) print(r Document) error {
	if c.JSON {
		if err := c.PrintJSON(r); err != nil {
			return err
		}
	} else if !c.Quiet {
		tick := c.Palette(c.Stdout).Green("✓")
		switch {
		case r.Updated:
			fmt.Fprintf(c.Stdout, "%s Installed skillpm %s, replacing %s\n", tick, r.Release, r.Version)
		case r.Outdated:
			fmt.Fprintf(c.Stdout, "skillpm %s is available; the installed version is %s\n", r.Release, r.Version)
			c.Note("Install the release with: skillpm self-update")
		default:
			fmt.Fprintf(c.Stdout, "%s skillpm %s is up to date\n", tick, r.Version)
		}
	}
	if c.check && r.Outdated {
		return console.Reported{Exit: diag.Invalid}
	}
	return nil
}
