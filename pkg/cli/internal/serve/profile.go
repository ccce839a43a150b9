package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/schema"
)

func newProfile(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Show and check profiles of agents",
		Long: `A profile has the rules of one agent or skill system as data: the fields of a skill, the
directories of skills in their order, and the texts for the model.

To add your own profile, write a file ID.yaml in the directory that "skillpm profile path"
prints. With "extends: ID", the file has only the differences from another profile. Select
a profile with --profile ID.`,
		Example: `  skillpm profile list
  skillpm profile show claude-code
  skillpm profile check ours.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, c := range []*cobra.Command{newProfileList(a), newProfileShow(a), newProfileCheck(a), newProfilePath(a)} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// profileRow is a profile in JSON lists.
type profileRow struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	User   bool   `json:"user"`   // a custom profile
	Preset bool   `json:"preset"` // not an agent, but stricter rules
	Schema string `json:"schema"`
	Tool   string `json:"tool,omitempty"` // the tool that its model uses to load a skill
	Error  string `json:"error,omitempty"`
}

func newProfileList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List profiles",
		Long: `The built-in profiles come first, then your own. For each profile, the list shows the tool
with which the agent's model loads skills. If skillpm cannot read one of your profiles, the exit code
is 3.`,
		Example: `  skillpm profile list
  skillpm profile list --json
  skillpm profile list -q`,
		RunE: func(*cobra.Command, []string) error { return a.listProfiles() },
	}
}

func (a *app) listProfiles() error {
	env, err := a.Env()
	if err != nil {
		return err
	}
	user := runtime.Profiles(env.Paths)
	rows, wrong := []profileRow{}, error(nil)
	ids := profile.IDs()
	for _, id := range profile.UserIDs(user) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		p, err := profile.Resolve(id, user)
		if err != nil {
			rows, wrong = append(rows, profileRow{ID: id, User: true, Error: err.Error()}), err
			continue
		}
		rows = append(rows, profileRow{p.ID, p.Title, p.User, p.Preset, p.Schema, p.Trigger.Skill.Name, ""})
	}
	if a.JSON {
		err = a.PrintJSON(profilesDocument{rows})
	} else {
		g := a.Grid()
		for _, r := range rows {
			g.Add(console.Cell{Text: r.ID, Role: console.Name}, console.Cell{Text: console.Printable(r.Title)},
				console.Cell{Text: console.Printable(r.Tool), Role: console.Info},
				console.Cell{Text: strings.Join(r.remarks(), ", "), Role: console.Attention})
		}
		g.Write(a.Stdout)
	}
	if err == nil && wrong != nil {
		for _, r := range rows {
			if r.Error != "" {
				a.Warn("%s", r.Error)
			}
		}
		return console.Reported{Exit: diag.CodeOf(wrong)}
	}
	return err
}

func (r profileRow) remarks() []string {
	var out []string
	if r.ID == profile.Runtime {
		out = append(out, "default for agents")
	}
	if r.ID == profile.Default {
		out = append(out, "default for validate")
	}
	if r.Preset {
		out = append(out, "for validate only")
	}
	if r.User {
		out = append(out, "yours")
	}
	if r.Error != "" {
		out = append(out, "invalid")
	}
	return out
}

func newProfileShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Print a profile",
		Long:  "The output is YAML with all values, including the values of the extended profile.",
		Example: `  skillpm profile show pegasus
  skillpm profile show ours --json
  skillpm profile show claude-code > ours.yaml`,
		Args: console.Need(1, 1, "the ID of a profile"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.CompleteProfiles(cmd, args, prefix)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			env, err := a.Env()
			if err != nil {
				return err
			}
			p, err := profile.Resolve(args[0], runtime.Profiles(env.Paths))
			if err != nil {
				return err
			}
			return a.showProfile(p)
		},
	}
}

func (a *app) showProfile(p *profile.Profile) error {
	if a.JSON {
		n, err := p.Node()
		if err != nil {
			return err
		}
		var document any
		if err := n.Decode(&document); err != nil {
			return err
		}
		return a.PrintJSON(profileDocument{document})
	}
	text, err := p.Text()
	if err == nil {
		a.ForModel(string(text))
	}
	return err
}

func newProfileCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Check your own profiles",
		Long: `A valid profile extends an existing profile, has known placeholders in its templates, and
matches the schema that "skillpm schema profile" prints. The name of the file, ID.yaml, has the id
of the profile.`,
		Example: `  skillpm profile check ours.yaml
  skillpm profile check "$(skillpm profile path)"/*.yaml
  skillpm profile check ours.yaml --json`,
		Args: console.Need(1, 1<<20, "a FILE"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error {
			env, err := a.Env()
			if err != nil {
				return err
			}
			checked := []checkedProfile{}
			for _, file := range args {
				path := file
				if !filepath.IsAbs(path) {
					path = filepath.Join(env.Dir, path)
				}
				p, err := checkProfile(file, path, runtime.Profiles(env.Paths))
				if err != nil {
					return err
				}
				checked = append(checked, checkedProfile{file, p.ID, p.Title})
			}
			if a.JSON {
				return a.PrintJSON(checkedDocument{checked})
			}
			for _, c := range checked {
				a.Note("%s: profile %s is valid.", c.File, c.ID)
			}
			return nil
		},
	}
}

type checkedProfile struct {
	File  string `json:"file"`
	ID    string `json:"id"`
	Title string `json:"title"`
}

// maxProfile is the maximum size of a profile file, in bytes.
const maxProfile = 1 << 20

// checkProfile checks a profile file. It may extend built-in profiles and those in user.
func checkProfile(file, path string, user fs.FS) (*profile.Profile, error) {
	text, err := safefile.ReadFile(path, maxProfile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "file %s does not exist", file)
	}
	if err != nil {
		return nil, err
	}
	base := filepath.Base(file)
	id := strings.TrimSuffix(base, ".yaml")
	if id == base {
		return nil, diag.Errorf(diag.Usage, "%s is not a .yaml file", file).
			WithHint("rename the file to ID.yaml")
	}
	p, err := profile.Parse(file, id, text, user)
	if err != nil {
		return nil, err
	}
	return p, checkSchema(file, text)
}

// checkSchema checks a profile against its JSON Schema.
func checkSchema(file string, text []byte) error {
	raw, err := schema.Read("profile")
	if err != nil {
		return err
	}
	s, err := yamlschema.New("profile", raw)
	if err != nil {
		return err
	}
	document, err := yamlx.Parse(text)
	if err != nil {
		return diag.Errorf(diag.Invalid, "%s: %w", file, err)
	}
	violations, err := s.Check(document)
	if err != nil || len(violations) == 0 {
		return err
	}
	v := violations[0]
	return diag.Errorf(diag.Invalid, "%s:%d: %s violates the schema: %s %v", file, v.Node.Line,
		strings.TrimPrefix(v.Pointer, "/"), v.Keyword, v.Rule[v.Keyword]).
		WithHint("print the schema with: skillpm schema profile")
}

func newProfilePath(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "Print the directory of your own profiles",
		Long:  "Each file ID.yaml in the directory is a profile. The directory may not exist yet.",
		Example: `  skillpm profile path
  mkdir -p "$(skillpm profile path)"
  skillpm profile path --json`,
		RunE: func(*cobra.Command, []string) error {
			env, err := a.Env()
			if err != nil {
				return err
			}
			dir := filepath.Join(env.Paths.Config, profile.Dir)
			if a.JSON {
				return a.PrintJSON(pathDocument{dir})
			}
			_, err = fmt.Fprintln(a.Stdout, dir)
			return err
		},
	}
}
