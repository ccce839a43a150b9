package pack

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// SkillSettings configure skills at run time. A zero value means the default.
type SkillSettings struct {
	Enabled         *bool         // agents have skills; nil is true
	Allowed         []string      // the only available skills, as name or name@pack; empty means all
	HideUnmet       bool          // skills whose requirements the machine does not meet are not available
	Recommended     int           // the number of skills of an agent beyond which skillpm warns
	MaxDepth        int           // how deep activations of skills may nest
	TrustedProjects bool          // the local skills of a project are available in trusted folders only
	DynamicShell    bool          // run the commands in a skill's text if the profile has them
	AgentType       string        // filters skills by type of agent
	Tenant          string        // filters skills by tenant
	Environment     string        // filters skills by environment
	ScriptLimit     time.Duration // how long a script may run
}

// On reports whether agents have skills.
func (s SkillSettings) On() bool { return s.Enabled == nil || *s.Enabled }

// Runner is the command that runs the tasks of one type.
type Runner struct {
	Command []string      // a program and its arguments; a relative path with a slash is relative to the configuration
	Limit   time.Duration // how long a task may run, 0 for the default
	Env     []string      // variables besides the clean environment: NAME passes a value on, NAME=VALUE sets one
	Project bool          // run in the directory of the project instead of an empty one
	Notify  Notify
}

// Notify configures what happens at the end of a task.
type Notify struct {
	Command []string // runs with the task as JSON on its standard input
	File    string   // receives a line of JSON; see [Config.File]
}

// The greatest values of settings.
const (
	maxRunLimit    = 24 * time.Hour
	maxRecommended = 100_000
	maxNesting     = 64
	maxArguments   = 256
)

var (
	skillsKeys = []string{
		"enabled", "allowed", "hide-unmet", "recommended", "max-depth", "trusted-projects", "dynamic-shell",
		"agent-type", "tenant", "environment", "script-limit",
	}
	machineSkillsKeys = []string{"allowed", "agent-type", "tenant", "environment"}

	runnerKeys = []string{"command", "limit", "env", "directory", "notify"}
	notifyKeys = []string{"command", "file"}

	runnerType = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	})
	filterWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$`)
	})
	variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
)

// skillSettings reads the mapping of the keys that a file may have.
func skillSettings(v yamlx.Value, keys []string) (s SkillSettings) {
	for key, v := range v.Fields(keys...) {
		if v.IsBlank() {
			continue
		}
		switch v := v.Named("skills." + key); key {
		case "enabled":
			s.Enabled = new(v.Bool())
		case "allowed":
			s.Allowed = v.Texts(checkAllowed)
		case "hide-unmet":
			s.HideUnmet = v.Bool()
		case "recommended":
			s.Recommended = int(v.Int(maxRecommended))
		case "max-depth":
			s.MaxDepth = int(v.Int(maxNesting))
		case "trusted-projects":
			s.TrustedProjects = v.Bool()
		case "dynamic-shell":
			s.DynamicShell = v.Bool()
		case "agent-type":
			s.AgentType = filter(v)
		case "tenant":
			s.Tenant = filter(v)
		case "environment":
			s.Environment = filter(v)
		case "script-limit":
			s.ScriptLimit = timeLimit(v)
		}
	}
	return s
}

// runners reads the mapping of types of tasks to programs.
func runners(v yamlx.Value) map[string]Runner {
	runners := make(map[string]Runner)
	for kind, v := range v.Fields() {
		if !runnerType().MatchString(kind) {
			v.Key().Errorf("use letters, digits, dots, and hyphens, such as general",
				"invalid runner name %q", kind)
		}
		runners[kind] = readRunner(v.Named("runners." + kind))
	}
	return runners
}

func readRunner(v yamlx.Value) (s Runner) {
	before := v.Count()
	for key, value := range v.Fields(runnerKeys...) {
		if value.IsBlank() {
			continue
		}
		switch value := value.Named(v.Name + "." + key); key {
		case "command":
			s.Command = command(value)
		case "limit":
			s.Limit = timeLimit(value)
		case "env":
			s.Env = value.Texts(checkVariable)
		case "directory":
			s.Project = value.Text(func(s string) error {
				if s != "own" && s != "project" {
					return diag.Errorf(diag.Invalid, "unknown %s %q", value.Name, s).
						WithHint("use own (an empty directory for each task) or project")
				}
				return nil
			}) == "project"
		case "notify":
			s.Notify = notify(value)
		}
	}
	if s.Command == nil && v.Count() == before {
		v.Errorf("add a program that reads the task from standard input, such as command: [claude, -p]",
			"%s does not have a command", v.Name)
	}
	return s
}

func notify(v yamlx.Value) (n Notify) {
	for key, value := range v.Fields(notifyKeys...) {
		if value = value.Named(v.Name + "." + key); key == "command" {
			n.Command = command(value)
		} else {
			n.File = value.Text(checkFile)
		}
	}
	return n
}

// command reads a program and its arguments, which may repeat.
func command(v yamlx.Value) []string {
	if !v.IsList() {
		hint := "use a list, such as [claude, -p], because skillpm does not start a shell"
		if words := strings.Fields(v.Node.Value); len(words) > 0 {
			hint = "write [" + strings.Join(words, ", ") + "]"
		}
		v.Errorf(hint, "%s must be a list of a program and its arguments", v.Name)
		return nil
	}
	var argv []string
	before := v.Count()
	for item := range v.Items() {
		s := item.Prose()
		if strings.ContainsRune(s, 0) {
			item.Errorf("", "an entry of %s contains a zero byte", v.Name)
		}
		argv = append(argv, s)
	}
	switch {
	case v.Count() > before:
	case len(argv) == 0 || argv[0] == "":
		v.Errorf("use a list, such as [claude, -p]", "%s does not contain a program", v.Name)
	case len(argv) > maxArguments:
		v.Errorf("", "%s has %d arguments; the limit is %d", v.Name, len(argv), maxArguments)
	case strings.HasPrefix(argv[0], "~"):
		v.At(v.Node.Content[0]).Errorf("use an absolute path",
			"%s must not start with ~, because skillpm does not expand ~", v.Name)
	}
	return argv
}

// timeLimit reads a duration.
func timeLimit(v yamlx.Value) time.Duration {
	return yamlx.As(v, func(s string) (time.Duration, error) {
		limit, err := time.ParseDuration(s)
		switch {
		case err != nil || limit <= 0:
			return 0, diag.Errorf(diag.Invalid, "invalid %s %q", v.Name, s).
				WithHint("use a number with a unit, such as 90s or 10m")
		case limit > maxRunLimit:
			return 0, diag.Errorf(diag.Invalid, "%s %q is longer than one day", v.Name, s).
				WithHint("use at most 24h")
		}
		return limit, nil
	})
}

// filter reads a word to filter skills by.
func filter(v yamlx.Value) string {
	return v.Text(func(s string) error {
		if !filterWord().MatchString(s) {
			return diag.Errorf(diag.Invalid, "invalid %s %q", v.Name, s).
				WithHint("use letters, digits, hyphens, and dots")
		}
		return nil
	})
}

func checkAllowed(s string) error {
	name, pack, qualified := strings.Cut(s, "@")
	if name == "" || qualified && pack == "" || len(s) > 4*skill.MaxName ||
		strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return diag.Errorf(diag.Invalid, "invalid skill name %q", s).
			WithHint("use a name such as deploy, or deploy@acme/deploy for the skill of a pack")
	}
	return nil
}

func checkFolder(s string) error {
	if !filepath.IsAbs(s) || strings.ContainsFunc(s, isInvisible) {
		return diag.Errorf(diag.Invalid, "%q is not the absolute path of a directory", s).
			WithHint("use an absolute path, such as /home/ada/work")
	}
	return nil
}

// checkVariable checks a variable for the environment of tasks. It rejects the variables by which skillpm tells a task
// about itself, so that the session of the parent is not passed on.
func checkVariable(s string) error {
	name, _, _ := strings.Cut(s, "=")
	switch {
	case !variable().MatchString(name):
		return diag.Errorf(diag.Invalid, "invalid variable %q", s).
			WithHint("use NAME to pass a variable to tasks, or NAME=VALUE to set a variable")
	case strings.HasPrefix(strings.ToUpper(name), "SKILLPM_"):
		return diag.Errorf(diag.Invalid, "%s is reserved for skillpm, so tasks cannot use it", name).
			WithHint("choose a name that does not start with SKILLPM_")
	case strings.ContainsRune(s, 0):
		return diag.Errorf(diag.Invalid, "variable %s contains a zero byte", name)
	}
	return nil
}

// Runner returns the runner for a type of tasks, "" for [DefaultRunner], with absolute paths. The error has code
// [diag.NotFound], and its hint shows how to configure one.
func (c *Config) Runner(kind string) (Runner, error) {
	if kind == "" {
		kind = DefaultRunner
	}
	if c == nil {
		c = &Config{Path: ConfigName}
	}
	r, ok := c.Runners[kind]
	if !ok {
		err := diag.Errorf(diag.NotFound, "no runner is configured for tasks of type %q", kind)
		return Runner{}, err.WithHint("add to %s:\n"+
			"runners:\n  %s:\n    command: [claude, -p]   # reads the task from standard input", c.Path, kind)
	}
	r.Command, r.Notify.Command = c.program(r.Command), c.program(r.Notify.Command)
	r.Notify.File = c.File(r.Notify.File)
	return r, nil
}

// program resolves a program with a relative path, which is relative to the configuration.
func (c *Config) program(argv []string) []string {
	if len(argv) == 0 || !strings.ContainsAny(argv[0], `/\`) {
		return argv
	}
	argv = slices.Clone(argv)
	argv[0] = c.File(argv[0])
	return argv
}

// DefaultRunner is the type of tasks whose skill names none.
const DefaultRunner = "general"
