package install

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change settings",
		Long: `The user's settings are in config.yaml. Write the key of a nested setting with dots, such as
skills.max-depth, and the values of a list with commas. Changes keep the comments in the
file. Manage registries with "skillpm registry".`,
		Example: `  skillpm config list
  skillpm config set min-release-age 3d
  skillpm config get min-release-age
  skillpm config set min-release-age --undo
  skillpm config set agents claude-code,codex`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, c := range []*cobra.Command{
		newConfigList(a), newConfigGet(a), newConfigSet(a), newConfigPath(a), newConfigMergeDriver(a),
		newConfigSync(a),
	} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// settings are the user's settings file.
type settings struct {
	path string
	data []byte
	root *yaml.Node
}

func (a *app) settings() (*settings, error) {
	env, err := a.Env()
	if err != nil {
		return nil, err
	}
	s := &settings{path: cmp.Or(env.Config, env.Paths.ConfigFile())}
	if s.data, err = safefile.ReadOptional(s.path); err != nil {
		return nil, err
	}
	if _, err := pack.ParseConfig(s.path, s.data); err != nil {
		return nil, err
	}
	e, err := yamlx.NewEditor(s.path, s.data)
	if err != nil {
		return nil, err
	}
	s.root = e.Root()
	return s, nil
}

// setting is one value, with its key.
type setting struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// all returns the settings in the order of the file. Mappings of names, such as mirrors, are one setting.
func (s *settings) all() []setting {
	list := []setting{}
	var add func(prefix string, n *yaml.Node)
	add = func(prefix string, n *yaml.Node) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := prefix+n.Content[i].Value, n.Content[i+1]
			if value.Kind == yaml.MappingNode && slices.Contains([]string{"skills", "log", "sync"}, key) {
				add(key+".", value)
				continue
			}
			var v any
			if value.Decode(&v) == nil {
				list = append(list, setting{key, v})
			}
		}
	}
	add("", s.root)
	return list
}

// find returns a setting, or an entry of a mapping, such as mirrors.ghcr.io.
func (s *settings) find(key string) (setting, bool) {
	for _, one := range s.all() {
		if one.Key == key {
			return one, true
		}
		entries, _ := one.Value.(map[string]any)
		if name, ok := strings.CutPrefix(key, one.Key+"."); ok && entries[name] != nil {
			return setting{key, entries[name]}, true
		}
	}
	return setting{}, false
}

// text returns a value as config set takes it.
func (s setting) text() string {
	switch v := s.Value.(type) {
	case []any:
		var words []string
		for _, item := range v {
			words = append(words, setting{Value: item}.text())
		}
		return strings.Join(words, ",")
	case map[string]any:
		var words []string
		for key, item := range v {
			words = append(words, key+"="+setting{Value: item}.text())
		}
		slices.Sort(words)
		return strings.Join(words, ",")
	}
	return fmt.Sprint(s.Value)
}

func newConfigList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List settings",
		Long:    "The list contains only the settings in the user's config.yaml, not the defaults.",
		Example: `  skillpm config list
  skillpm config list --json
  skillpm config list --config ./config.yaml`,
		RunE: func(*cobra.Command, []string) error {
			s, err := a.settings()
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(configDocument{s.path, s.all()})
			}
			list := s.all()
			if len(list) == 0 {
				a.Note("No settings in %s. Change a setting with: skillpm config set KEY VALUE", s.path)
			}
			for _, one := range list {
				fmt.Fprintln(a.Stdout, console.Flat(one.Key+" = "+one.text()))
			}
			return nil
		},
	}
}

func newConfigGet(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "get KEY",
		Short: "Print a setting",
		Long:  "If config.yaml does not set KEY, the exit code is 4.",
		Example: `  skillpm config get min-release-age
  skillpm config get skills.max-depth --json
  skillpm config get agents --config ./config.yaml`,
		Args:              console.Need(1, 1, "one KEY"),
		ValidArgsFunction: completeKeys,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkKey(args[0]); err != nil {
				return err
			}
			s, err := a.settings()
			if err != nil {
				return err
			}
			one, ok := s.find(args[0])
			switch {
			case !ok:
				return diag.Errorf(diag.NotFound, "%s is not set in %s", args[0], s.path).
					WithHint("%s", s.setHint(args[0]))
			case a.JSON:
				return a.PrintJSON(one)
			}
			fmt.Fprintln(a.Stdout, console.Flat(one.text()))
			return nil
		},
	}
}

func newConfigSet(a *app) *cobra.Command {
	undo := false
	cmd := &cobra.Command{
		Use:   "set KEY [VALUE]",
		Short: "Change a setting",
		Long: `The command writes the setting to the user's config.yaml. With --undo, the command removes
the setting, and the default applies.`,
		Example: `  skillpm config set min-release-age 3d
  skillpm config set skills.trusted-projects true
  skillpm config set min-release-age --undo`,
		Args:              console.Need(1, 2, "a KEY and a VALUE"),
		ValidArgsFunction: completeKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo == (len(args) == 2) {
				return diag.Errorf(diag.Usage, "skillpm config set needs either a VALUE or --undo")
			}
			if err := checkKey(args[0]); err != nil {
				return err
			}
			value := ""
			if !undo {
				value = args[1]
				if err := a.checkValue(args[0], value); err != nil {
					return err
				}
			}
			return a.setConfig(cmd.Context(), args[0], value, undo)
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "remove the setting")
	return cmd
}

// setConfig changes the file, if it is valid with the change.
func (a *app) setConfig(ctx context.Context, key, value string, undo bool) error {
	env, err := a.Env()
	if err != nil {
		return err
	}
	unlock, err := env.Paths.LockSettings(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }() // the kernel releases it when the process ends
	s, err := a.settings()
	if err != nil {
		return err
	}
	data, err := s.with(key, value, undo)
	if err != nil {
		return err
	}
	changed := string(data) != string(s.data)
	if changed {
		mode := os.FileMode(0o644)
		if info, err := os.Stat(s.path); err == nil {
			mode = info.Mode().Perm()
		}
		o := atomicfile.Options{Mode: mode, MkdirMode: 0o755, Sync: true}
		if err := atomicfile.Write(s.path, data, o); err != nil {
			return err
		}
	}
	switch {
	case a.JSON:
		return a.PrintJSON(configChange{s.path, key, changed})
	case !changed:
		a.Note("Nothing to change in %s.", s.path)
	case undo:
		a.Note("Removed %s from %s.", key, s.path)
	default:
		a.Note("Set %s in %s.", key, s.path)
	}
	return nil
}

// with returns the file with a changed setting. The value is a number or boolean, a text, or a list, whichever the
// setting accepts.
func (s *settings) with(key, value string, undo bool) ([]byte, error) {
	path := strings.SplitN(key, ".", 2)
	if undo {
		e, err := yamlx.NewEditor(s.path, s.data)
		if err != nil {
			return nil, err
		}
		_, err = e.Prune(path...)
		return e.Bytes(), err
	}
	if command := entryCommand(key); command != "" {
		return nil, diag.Errorf(diag.Usage, "cannot set %s: the setting is not a single value", key).
			WithHint("set an entry with: %s", command)
	}
	if onlyInFile(key) {
		return nil, diag.Errorf(diag.Usage, "cannot set %s with a command", key).WithHint("%s", s.setHint(key))
	}
	items := []any{}
	for item := range strings.SplitSeq(value, ",") {
		items = append(items, strings.TrimSpace(item))
	}
	if key == "agents" {
		var ids []string
		for _, item := range items {
			ids = append(ids, item.(string))
		}
		if _, err := agent.LookupAll(ids); err != nil {
			return nil, err
		}
	}
	candidates := []any{value, items}
	if n, err := strconv.Atoi(value); err == nil {
		candidates = slices.Insert(candidates, 0, any(n))
	} else if value == "true" || value == "false" {
		candidates = slices.Insert(candidates, 0, any(value == "true"))
	}
	var first error
	for _, v := range candidates {
		e, err := yamlx.NewEditor(s.path, s.data)
		if err != nil {
			return nil, err
		}
		if err = e.Set(v, path...); err == nil {
			if _, err = pack.ParseConfig(s.path, e.Bytes()); err == nil {
				return e.Bytes(), nil
			}
		}
		first = cmp.Or(first, err)
	}
	return nil, diag.Errorf(diag.Usage, "cannot set %s: %w", key, first)
}

// checkValue returns an error for a value that is valid in the file and has no effect, or another one than it seems.
func (a *app) checkValue(key, value string) error {
	env, err := a.Env()
	if err != nil {
		return err
	}
	switch key {
	case "profile":
		p, err := profile.Resolve(value, runtime.Profiles(env.Paths))
		if err == nil && p.Preset {
			err = diag.Errorf(diag.Usage, "%s is a set of rules for skillpm validate, not an agent", value).
				WithHint("list agents with: skillpm agents")
		}
		if err != nil {
			return diag.Errorf(diag.Usage, "cannot set profile: %w", err).WithHint("%s", diag.HintOf(err))
		}
	case "ca-file", "trusted-keys":
		for file := range strings.SplitSeq(value, ",") {
			if file = strings.TrimSpace(file); !filepath.IsAbs(file) {
				return diag.Errorf(diag.Usage, "cannot set %s: %q is not an absolute path", key, file).
					WithHint("use %s", a.Abs(file))
			}
		}
	}
	return nil
}

// onlyInFile reports whether a setting can only be written into a file.
func onlyInFile(key string) bool {
	top, _, _ := strings.Cut(key, ".")
	return top == "runners" || top == "sync"
}

// setHint returns how to set a setting.
func (s *settings) setHint(key string) string {
	switch command := entryCommand(key); {
	case command != "":
		return "set the value with: " + command
	case key == "sync" || strings.HasPrefix(key, "sync."):
		return "only the administrator's config.yaml may have sync"
	case onlyInFile(key):
		return "add the setting to " + s.path + "; show its format with: skillpm schema config"
	}
	return "set the value with: skillpm config set " + key + " VALUE"
}

// entryCommand returns the command that sets an entry of a setting that consists of entries, or "" for other settings.
func entryCommand(key string) string {
	if owner, ok := strings.CutPrefix(key, "namespaces."); ok { // the command checks that the registry exists
		return "skillpm registry bind " + skill.QuoteArgument(owner) + " REGISTRY"
	}
	switch key {
	case "registries":
		return "skillpm registry add NAME URL"
	case "namespaces":
		return "skillpm registry bind OWNER REGISTRY"
	case "publishers":
		return "skillpm registry bind OWNER REGISTRY --publisher PUBLISHER"
	case "mirrors":
		return "skillpm config set mirrors.REGISTRY MIRROR"
	case "auth-hosts":
		return "skillpm config set auth-hosts.REGISTRY HOST"
	case "skills":
		return "skillpm config set skills.KEY VALUE"
	case "log":
		return "skillpm config set log.output full"
	}
	return ""
}

func newConfigPath(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "Print the path of the settings file",
		Long:  "The file may not exist yet. --config selects another file.",
		Example: `  skillpm config path
  cat "$(skillpm config path)"
  skillpm config path --json`,
		RunE: func(*cobra.Command, []string) error {
			env, err := a.Env()
			if err != nil {
				return err
			}
			path := cmp.Or(env.Config, env.Paths.ConfigFile())
			if a.JSON {
				return a.PrintJSON(configPath{path})
			}
			fmt.Fprintln(a.Stdout, path)
			return nil
		},
	}
}

// checkKey rejects unknown keys.
func checkKey(key string) error {
	top, rest, nested := strings.Cut(key, ".")
	err := diag.Errorf(diag.Usage, "unknown setting %q", key)
	switch {
	case !slices.Contains(pack.ConfigKeys(), top), nested && rest == "":
	case top == "skills" && nested:
		if slices.Contains(pack.SkillSettingKeys(), rest) {
			return nil
		}
		if near := diag.Nearest(rest, pack.SkillSettingKeys()); near != "" {
			return err.WithHint("did you mean skills.%s?", near)
		}
		return err.WithHint("use one of the settings skills.%s", strings.Join(pack.SkillSettingKeys(), ", skills."))
	case !nested || slices.Contains([]string{"mirrors", "auth-hosts", "namespaces", "publishers", "runners", "sync", "log"}, top):
		return nil
	}
	if near := diag.Nearest(top, pack.ConfigKeys()); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("use one of the settings %s", strings.Join(pack.ConfigKeys(), ", "))
}

func completeKeys(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return console.Matching(pack.ConfigKeys(), prefix), cobra.ShellCompDirectiveNoFileComp
}
