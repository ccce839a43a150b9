package govern

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

func newTrust(a *app) *cobra.Command {
	var (
		list   bool
		remove string
	)
	cmd := &cobra.Command{
		Use:     "trust [DIR]",
		Short:   "Trust the skills of a folder",
		GroupID: "serve",
		Long: `Trust the skills of a folder, and of those in it: the project that this directory is
in, or DIR. A repository brings skills along, and they tell an agent what to do: look at
them first, with skillpm skills --all and skillpm validate.

Trust is asked for where the settings say skills.trusted-projects: true, or the profile
does. The skills of a project that is not trusted are then left out. Folders are known by
their real paths, in a file of the user's that no project can write.`,
		Example: `  skillpm trust
  skillpm trust ~/src/app
  skillpm trust --list
  skillpm trust --remove ~/src/app`,
		Args: console.Need(0, 1, "one DIR at most"),
	}
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list the folders that are trusted")
	f.StringVar(&remove, "remove", "", "trust `DIR` no more")
	a.CompleteFlag(cmd, "remove", a.completeTrusted)
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if list && cmd.Flags().Changed("remove") {
			return diag.Errorf(diag.Usage, "--list and --remove are two things to do")
		}
		if len(args) > 0 && (list || cmd.Flags().Changed("remove")) {
			return diag.Errorf(diag.Usage, "DIR is what is trusted: --list takes none, and --remove its own")
		}
		h, err := a.Host(cmd.Context(), &console.RuntimeFlags{})
		if err != nil {
			return err
		}
		folders := catalog.TrustedFolders(h.Paths())
		switch {
		case list:
			return a.listTrusted(h, folders)
		case cmd.Flags().Changed("remove"):
			return a.trustNoMore(folders, remove)
		}
		return a.trustFolder(h, folders, args)
	}
	return cmd
}

// trustFolder trusts the named folder, or the project.
func (a *app) trustFolder(h *runtime.Host, folders catalog.Folders, args []string) error {
	dir := h.Project()
	switch {
	case len(args) > 0 && args[0] == "":
		return diag.Errorf(diag.Usage, "the name of the folder is empty")
	case len(args) > 0:
		dir = a.Abs(args[0])
	case dir == "":
		return diag.Errorf(diag.Usage, "the home directory is no project").
			WithHint("name the folder: skillpm trust DIR")
	}
	real, err := folders.Add(dir, a.Now())
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"trusted": real})
	}
	fmt.Fprintf(a.Stdout, "%s is trusted\n", console.Printable(real))
	if !h.Config().Skills.TrustedProjects && !h.Profile().TrustedProjects {
		a.Note(
			"nothing asks for trust here: skills.trusted-projects: true in config.yaml would, or " +
				"trusted-projects: true in a profile")
	}
	return nil
}

func (a *app) trustNoMore(folders catalog.Folders, dir string) error {
	if dir == "" {
		return diag.Errorf(diag.Usage, "the name of the folder is empty")
	}
	real, err := folders.Remove(a.Abs(dir))
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"removed": real})
	}
	fmt.Fprintf(a.Stdout, "%s is not trusted any more\n", console.Printable(real))
	return nil
}

// trustedJSON is a folder in the output of "trust --list --json".
type trustedJSON struct {
	Path  string     `json:"path"`
	Since *time.Time `json:"since,omitempty"`
	From  string     `json:"from"` // the file that lists it
}

func (a *app) listTrusted(h *runtime.Host, folders catalog.Folders) error {
	trusted, err := folders.List()
	if err != nil {
		return err
	}
	list := []trustedJSON{}
	for _, f := range trusted {
		list = append(list, trustedJSON{Path: f.Path, Since: &f.Since, From: folders.Path()})
	}
	for _, dir := range h.Config().TrustedFolders {
		list = append(list, trustedJSON{Path: dir, From: h.Config().Path})
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"folders": list})
	}
	if len(list) == 0 {
		a.Note("no folder is trusted; skillpm trust DIR trusts one")
		return nil
	}
	var rows [][]string
	for _, f := range list {
		since := "by " + f.From
		if f.Since != nil {
			since = "since " + f.Since.Local().Format(time.DateOnly)
		}
		rows = append(rows, []string{f.Path, since})
	}
	return console.Table(a.Stdout, rows)
}

// completeTrusted completes the trusted folders.
func (a *app) completeTrusted(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	env, err := a.Env()
	if err != nil {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	var names []string
	trusted, _ := catalog.TrustedFolders(env.Paths).List() // completion ignores unreadable files
	for _, f := range trusted {
		names = append(names, f.Path)
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveFilterDirs
}
