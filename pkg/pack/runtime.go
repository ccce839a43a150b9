package pack

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// SkillSettings are what a configuration says of skills at work. A zero value leaves a setting at its default.
type SkillSettings struct {
	Enabled         *bool         // whether agents are given skills at all; nil is true
	Allowed         []string      // the only skills that are in force, as name or name@pack; empty means all
	Recommended     int           // how many skills an agent should have at most before it is said that they are many
	MaxDepth        int           // how many skills can be active inside each other
	TrustedProjects bool          // a project's own skills count only in folders that are trusted
	DynamicShell    bool          // commands in a skill's text are run where the profile has them
	Agent           string        // the agent that skills are filtered for
	Tenant          string        // the tenant that skills are filtered for
	Environment     string        // the environment that skills are filtered for
	ScriptLimit     time.Duration // how long a script may run
}

// On reports whether agents are given skills at all.
func (s SkillSettings) On() bool { return s.Enabled == nil || *s.Enabled }

// Runner is the command that runs the tasks of one type.
type Runner struct {
	Command []string      // a program and its arguments; a relative path of several parts is beside the configuration
	Limit   time.Duration // how long a task may run, 0 for the default
	Env     []string      // variables besides the clean environment: NAME takes over a value, NAME=VALUE sets one
	Project bool          // it works in the project's directory and not in an empty one of its own
	Notify  Notify
}

// Notify says how the end of a task is told.
type Notify struct {
	Command []string // is run with the task as JSON on its standard input
	File    string   // gets a line of JSON; see [Config.File]
}

// Bounds of what a configuration may ask for.
const (
	maxRunLimit    = 24 * time.Hour
	maxRecommended = 100_000
	maxNesting     = 64
	maxArguments   = 256
)

// runtime is what only a configuration says: how skills are at work.
type runtime struct {
	profile string
	skills  SkillSettings
	runners map[string]Runner
	trusted []string
}

var (
	skillsKeys = []string{
		"enabled", "allowed", "recommended", "max-depth", "trusted-projects", "dynamic-shell", "agent", "tenant", "environment", "script-limit",
	}
	runnerKeys = []string{"command", "limit", "env", "directory", "notify"}
	notifyKeys = []string{"command", "file"}

	runnerType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })
	filterWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$`) })
	variable   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
)

// field reads one of the keys, and reports whether it is one.
func (s *runtime) field(r reader, key string, v *yaml.Node) (known bool, err error) {
	switch key {
	case "profile":
		if s.profile, err = r.text(v, key); err == nil && !profilePattern().MatchString(s.profile) {
			err = r.errorf(v, "%q is not the id of a profile", s.profile).WithHint("skillpm profile lists them")
		}
	case "skills":
		s.skills, err = r.skillSettings(v)
	case "runners":
		s.runners, err = r.runners(v)
	case "trusted-folders":
		s.trusted, err = r.texts(v, key, checkFolder)
	default:
		return false, nil
	}
	return true, err
}

func (r reader) skillSettings(v *yaml.Node) (s SkillSettings, err error) {
	if err := r.mappingOf(v, "skills"); err != nil {
		return s, err
	}
	err = r.fields(v, "skills", skillsKeys, func(k, v *yaml.Node) (err error) {
		if isNull(v) && v.Value == "" {
			return nil
		}
		switch what := "skills." + k.Value; k.Value {
		case "enabled":
			var on bool
			if on, err = r.flag(v, what); err == nil {
				s.Enabled = &on
			}
		case "allowed":
			s.Allowed, err = r.texts(v, what, checkAllowed)
		case "recommended":
			s.Recommended, err = r.count(v, what, maxRecommended)
		case "max-depth":
			s.MaxDepth, err = r.count(v, what, maxNesting)
		case "trusted-projects":
			s.TrustedProjects, err = r.flag(v, what)
		case "dynamic-shell":
			s.DynamicShell, err = r.flag(v, what)
		case "agent":
			s.Agent, err = r.word(v, what)
		case "tenant":
			s.Tenant, err = r.word(v, what)
		case "environment":
			s.Environment, err = r.word(v, what)
		case "script-limit":
			s.ScriptLimit, err = r.limit(v, what)
		}
		return err
	})
	return s, err
}

// runners reads the mapping of a type of task to what runs it.
func (r reader) runners(v *yaml.Node) (map[string]Runner, error) {
	if err := r.mappingOf(v, "runners"); err != nil {
		return nil, err
	}
	runners := make(map[string]Runner)
	err := r.fields(v, "runners", nil, func(k, v *yaml.Node) error {
		if !runnerType().MatchString(k.Value) {
			err := r.errorf(k, "%q is not the name of a runner", k.Value).WithHint("write a word of letters, digits, dots and hyphens, as general")
			if err := r.note(err); err != nil {
				return err
			}
		}
		runner, err := r.runner(v, "runners."+k.Value)
		if err == nil {
			runners[k.Value] = runner
		}
		return err
	})
	return runners, err
}

func (r reader) runner(v *yaml.Node, what string) (Runner, error) {
	var s Runner
	if err := r.mappingOf(v, what); err != nil {
		return s, err
	}
	hasCommand, before := false, r.noted()
	err := r.fields(v, what, runnerKeys, func(k, v *yaml.Node) (err error) {
		if isNull(v) && v.Value == "" {
			return nil
		}
		switch what := what + "." + k.Value; k.Value {
		case "command":
			hasCommand = true
			s.Command, err = r.command(v, what)
		case "limit":
			s.Limit, err = r.limit(v, what)
		case "env":
			s.Env, err = r.texts(v, what, checkVariable)
		case "directory":
			s.Project, err = r.ownOrProject(v, what)
		case "notify":
			s.Notify, err = r.notify(v, what)
		}
		return err
	})
	if err == nil && !hasCommand && r.noted() == before {
		err = r.errorf(v, "%s needs a command", what).WithHint("write command: [claude, -p], the program that gets the task on its standard input")
	}
	return s, err
}

func (r reader) ownOrProject(v *yaml.Node, what string) (bool, error) {
	s, err := r.text(v, what)
	if err == nil && s != "own" && s != "project" {
		err = r.errorf(v, "%s %q is not known", what, s).WithHint("write own, an empty directory for each task, or project")
	}
	return s == "project", err
}

func (r reader) notify(v *yaml.Node, what string) (n Notify, err error) {
	if err := r.mappingOf(v, what); err != nil {
		return n, err
	}
	err = r.fields(v, what, notifyKeys, func(k, v *yaml.Node) (err error) {
		if k.Value == "command" {
			n.Command, err = r.command(v, what+".command")
			return err
		}
		if n.File, err = r.text(v, what+".file"); err == nil {
			err = r.at(v, checkFile(n.File))
		}
		return err
	})
	return n, err
}

// command reads a program and its arguments. An argument may be there twice.
func (r reader) command(v *yaml.Node, what string) ([]string, error) {
	if v.Kind != yaml.SequenceNode {
		err := r.errorf(v, "%s must be a list of a program and its arguments", what)
		if words := strings.Fields(v.Value); len(words) > 0 {
			return nil, err.WithHint("write [%s]", strings.Join(words, ", "))
		}
		return nil, err.WithHint("write [claude, -p]; no shell reads it")
	}
	var argv []string
	for _, item := range v.Content {
		s, err := r.prose(item, "an entry of "+what)
		if err == nil && strings.ContainsRune(s, 0) {
			err = r.errorf(item, "an entry of %s has a zero byte", what)
		}
		if err != nil {
			return nil, err
		}
		argv = append(argv, s)
	}
	switch {
	case len(argv) == 0 || argv[0] == "":
		return nil, r.errorf(v, "%s names no program", what).WithHint("write [claude, -p]")
	case len(argv) > maxArguments:
		return nil, r.errorf(v, "%s has more than %d arguments", what, maxArguments)
	case strings.HasPrefix(argv[0], "~"):
		return nil, r.errorf(v.Content[0], "no shell reads %s, so that ~ is not the home directory", what).WithHint("write the path in full")
	}
	return argv, nil
}

// limit reads how long something may run.
func (r reader) limit(v *yaml.Node, what string) (time.Duration, error) {
	s, err := r.text(v, what)
	if err != nil {
		return 0, err
	}
	limit, err := time.ParseDuration(s)
	switch {
	case err != nil || limit <= 0:
		return 0, r.errorf(v, "%s %q is not a time", what, s).WithHint("write a number and its unit, as 90s or 10m")
	case limit > maxRunLimit:
		return 0, r.errorf(v, "%s %q is longer than a day, the most that there is", what, s).WithHint("write at most 24h")
	}
	return limit, nil
}

// count reads a number from 1 to most.
func (r reader) count(v *yaml.Node, what string, most int) (int, error) {
	n, err := strconv.Atoi(v.Value)
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!int" || err != nil || n < 1 || n > most {
		return 0, r.errorf(v, "%s must be a number from 1 to %d", what, most)
	}
	return n, nil
}

func (r reader) word(v *yaml.Node, what string) (string, error) {
	s, err := r.text(v, what)
	if err == nil && !filterWord().MatchString(s) {
		err = r.errorf(v, "%s %q is not one word", what, s).WithHint("write letters, digits, hyphens and dots")
	}
	return s, err
}

func checkAllowed(s string) error {
	name, pack, qualified := strings.Cut(s, "@")
	if name == "" || qualified && pack == "" || len(s) > 4*skill.MaxName || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return diag.Errorf(diag.Invalid, "%q is not the name of a skill", s).WithHint("write it as deploy, or deploy@acme/deploy for the one of a pack")
	}
	return nil
}

func checkFolder(s string) error {
	if !filepath.IsAbs(s) || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return diag.Errorf(diag.Invalid, "%q is not the full path of a folder", s).WithHint("write it from the root, as /home/ada/work")
	}
	return nil
}

// checkVariable checks what a task's environment has besides the clean one. What skillpm itself says to a task is not for
// others to say, and a session of the parent is not passed on.
func checkVariable(s string) error {
	name, _, _ := strings.Cut(s, "=")
	switch {
	case !variable().MatchString(name):
		return diag.Errorf(diag.Invalid, "%q is not a variable", s).WithHint("write NAME to pass one on, or NAME=VALUE to set one")
	case strings.HasPrefix(strings.ToUpper(name), "SKILLPM_"):
		return diag.Errorf(diag.Invalid, "%s is skillpm's own and not passed on to tasks", name).WithHint("choose a name that does not start with SKILLPM_")
	case strings.ContainsRune(s, 0):
		return diag.Errorf(diag.Invalid, "%s has a zero byte", name)
	}
	return nil
}

// Runner returns what runs tasks of a type, "" being [DefaultRunner]. Paths of the configuration are resolved. An error is
// NotFound, and shows how one is configured.
func (c *Config) Runner(kind string) (Runner, error) {
	if kind == "" {
		kind = DefaultRunner
	}
	var (
		found Runner
		ok    bool
		path  = ConfigName
	)
	if c != nil {
		found, ok = c.Runners[kind]
		path = c.Path
	}
	if !ok {
		err := diag.Errorf(diag.NotFound, "no runner %q is configured, which would run the task", kind)
		return Runner{}, err.WithHint("write into %s:\nrunners:\n  %s:\n    command: [claude, -p]   # gets the task on its standard input", path, kind)
	}
	found.Command, found.Notify.Command = c.program(found.Command), c.program(found.Notify.Command)
	found.Notify.File = c.File(found.Notify.File)
	return found, nil
}

// program resolves a program that is given by a relative path, which is beside the configuration.
func (c *Config) program(argv []string) []string {
	if len(argv) == 0 || !strings.ContainsAny(argv[0], `/\`) {
		return argv
	}
	argv = slices.Clone(argv)
	argv[0] = c.File(argv[0])
	return argv
}

// DefaultRunner is the type of the tasks whose skill names none.
const DefaultRunner = "general"
