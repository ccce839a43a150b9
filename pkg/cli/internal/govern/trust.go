package govern

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

func newTrust(a *app) *cobra.Command {
	var list, undo bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Trust the skills of a project",
		Long: `The command trusts DIR (default: the current project) and its subdirectories. A repository can
contain skills that instruct your agent. Review the skills first with
"skillpm skills --all" and "skillpm validate".

Trust is required if config.yaml has skills.trusted-projects: true, or if the profile has
trusted-projects: true. The skills of untrusted projects are then not available. skillpm
stores the real paths of trusted directories in a file of the user, which projects cannot
write.`,
		Example: `  skillpm trust
  skillpm trust --list
  skillpm trust ~/src/app --undo`,
		Args: console.Need(0, 1, "one DIR"),
	}
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list the trusted directories")
	f.BoolVar(&undo, "undo", false, "remove the directory from the trusted directories")
	cmd.ValidArgsFunction = a.completeTrusted
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if list && (undo || len(args) > 0) {
			return diag.Errorf(diag.Usage, "--list cannot be used with DIR or --undo")
		}
		h, err := a.Host(cmd.Context(), &console.RuntimeFlags{})
		if err != nil {
			return err
		}
		folders := catalog.TrustedFolders(h.Paths())
		switch {
		case list:
			return a.listTrusted(h, folders)
		}
		dir, err := a.trustDir(h, args)
		if err != nil {
			return err
		}
		if undo {
			return a.untrust(folders, dir)
		}
		return a.trust(h, folders, dir)
	}
	return cmd
}

// trustDir returns the named directory, or the project.
func (a *app) trustDir(h *runtime.Host, args []string) (string, error) {
	switch {
	case len(args) > 0 && args[0] == "":
		return "", diag.Errorf(diag.Usage, "the name of the directory is empty").
			WithHint("name the directory: skillpm trust DIR")
	case len(args) > 0:
		return a.Abs(args[0]), nil
	case h.Project() == "":
		return "", diag.Errorf(diag.Usage, "the home directory is not a project").
			WithHint("name the directory: skillpm trust DIR")
	}
	return h.Project(), nil
}

// trust trusts a directory.
func (a *app) trust(h *runtime.Host, folders catalog.Folders, dir string) error {
	real, err := folders.Add(dir, a.Now())
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(trustDocument{real})
	}
	fmt.Fprintf(a.Stdout, "Trusted %s\n", console.Printable(real))
	if !h.Config().Skills.TrustedProjects && !h.Profile().TrustedProjects {
		a.Note(
			"Your settings do not require trust. Require trust with: skillpm config set skills.trusted-projects true")
	}
	return nil
}

// untrust removes a directory from the trusted ones.
func (a *app) untrust(folders catalog.Folders, dir string) error {
	real, err := folders.Remove(dir)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(untrustDocument{real})
	}
	fmt.Fprintf(a.Stdout, "No longer trusted: %s\n", console.Printable(real))
	return nil
}

// trustedJSON is a folder in the output of "trust --list --json".
type trustedJSON struct {
	Path  string     `json:"path"`
	Since *time.Time `json:"since,omitempty"`
	From  string     `json:"from"` // file that lists the directory
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
		return a.PrintJSON(trustedDocument{list})
	}
	if len(list) == 0 {
		a.Note("No trusted directories. Add one with: skillpm trust DIR")
		return nil
	}
	var rows [][]string
	for _, f := range list {
		since := "in " + f.From
		if f.Since != nil {
			since = "since " + f.Since.Local().Format(time.DateOnly)
		}
		rows = append(rows, []string{f.Path, since})
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	a.Note("%s.", textx.CountOf(len(rows), "trusted directory", "trusted directories"))
	return nil
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
