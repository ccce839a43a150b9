package agent

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Shared is the directory that most agents read, in a project and in the home directory, and the one that skills are
// linked into when no agent was asked for and none was found.
const Shared = ".agents/skills"

// SharedID is the id of the entry that stands for [Shared] itself: no program, but every one that reads it.
const SharedID = "agents"

// The words that stand for agents where ids are written.
const (
	AllID      = "all"      // every agent that has a directory of its own for skills
	DetectedID = "detected" // those that are in use, as without any id; never in a file
)

// Agent is one program that reads skills. Agents are comparable.
type Agent struct {
	ID      string // as written in a manifest's agents list and after --agent, --host, and --profile
	Alias   string // another id, which hooks and the audit log use; "" for none
	Title   string // as its makers write it
	Project string // skill directory in a project, slash-separated
	User    string // skill directory in the home directory, slash-separated; "" if it has none
	// environment variable that stands for the first directory of Mark, as CLAUDE_CONFIG_DIR for ~/.claude
	UserEnv string
	Mark    string // directory whose existence shows that the agent is in use; "" for one that is never guessed
	Profile string // id of the profile that its skills follow; "" for the default one
	// Reads lists configuration directories, separated by spaces, whose skills it reads beside those of .agents and
	// .claude. It is known for agents whose hooks skillpm answers.
	Reads string
}

// All returns every agent, sorted by id.
func All() []Agent { return slices.Clone(table[:]) }

// IDs returns the id of every agent, sorted.
func IDs() []string {
	ids := make([]string, len(table))
	for i, a := range table {
		ids[i] = a.ID
	}
	return ids
}

// HookID is the id that hook commands, configurations, and the audit log contain.
func (a Agent) HookID() string { return cmp.Or(a.Alias, a.ID) }

// HookID returns [Agent.HookID] of the agent of an id or an alias, and any other id as it is.
func HookID(id string) string {
	if a, ok := Find(id); ok {
		return a.HookID()
	}
	return id
}

// Find returns the agent of an id or an alias, and whether there is one.
func Find(id string) (Agent, bool) {
	i := slices.IndexFunc(table[:], func(a Agent) bool { return id != "" && (a.ID == id || a.Alias == id) })
	if i < 0 {
		return Agent{}, false
	}
	return table[i], true
}

// Lookup is [Find] for an id that a user wrote: an unknown one is an error that names the nearest id.
func Lookup(id string) (Agent, error) {
	if a, ok := Find(id); ok {
		return a, nil
	}
	err := diag.Errorf(diag.Usage, "unknown agent %q", id)
	for _, known := range IDs() {
		if id != "" && strings.HasPrefix(known, strings.ToLower(id)) {
			return Agent{}, err.WithHint("did you mean %s?", known)
		}
	}
	if near := diag.Nearest(id, IDs()); near != "" {
		return Agent{}, err.WithHint("did you mean %s?", near)
	}
	return Agent{}, err.WithHint("use agents for the shared directory %s, which most agents read", Shared)
}

// LookupAll returns the agents of those ids in the order given, each once; [AllID] stands for all that have a directory
// of their own.
func LookupAll(ids []string) ([]Agent, error) {
	var agents []Agent
	for _, id := range ids {
		if id == AllID {
			agents = append(agents, own(agents)...)
			continue
		}
		a, err := Lookup(id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(agents, a) {
			agents = append(agents, a)
		}
	}
	return agents, nil
}

// own returns the agents that have a directory of their own, but those given. One that reads a directory which other
// files may be in, as skills, has to be asked for by its id.
func own(but []Agent) []Agent {
	return slices.DeleteFunc(All(), func(a Agent) bool {
		return !strings.HasPrefix(a.Project, ".") ||
			slices.Contains(but, a)
	})
}

// Detect returns the agents that are in use, sorted by id: those whose mark exists in the home directory, or whose own
// directory exists in the project. Either directory may be "". The exists function gets the directory and a
// slash-separated path below it, joined with a slash.
func Detect(exists func(path string) bool, project, home string) []Agent {
	return DetectAmong(table[:], exists, project, home)
}

// DetectAmong is Detect for some agents, as those that [Relocate] returns, whose marks may be absolute.
func DetectAmong(agents []Agent, exists func(path string) bool, project, home string) []Agent {
	var found []Agent
	for _, a := range agents {
		inProject := project != "" && a.projectMark() != "" && exists(project+"/"+a.projectMark())
		inHome := home != "" && a.Mark != "" && !isAbs(a.Mark) && exists(home+"/"+a.Mark)
		if inProject || inHome || isAbs(a.Mark) && exists(a.Mark) {
			found = append(found, a)
		}
	}
	return found
}

// InUse is [Detect] for the agents where their environment variables move them to.
func InUse(exists func(path string) bool, project, home string, getenv func(string) string) []Agent {
	return DetectAmong(Relocate(table[:], home, getenv), exists, project, home)
}

// projectMark is the directory that shows an agent's use in one project: its own one, or, for an agent that reads the
// shared directory, the one that it is marked by in the home directory as well. It is "" for one that is never guessed.
func (a Agent) projectMark() string {
	switch {
	case a.Mark == "" || a.Project == Shared && isAbs(a.Mark):
		return ""
	case a.Project == Shared:
		return a.Mark
	default:
		return path.Dir(a.Project)
	}
}

// Relocate returns the agents with the directories that their environment variables move. A directory that is moved to
// somewhere below home stays relative to it; one that is moved elsewhere becomes absolute, with forward slashes.
func Relocate(agents []Agent, home string, getenv func(string) string) []Agent {
	moved := slices.Clone(agents)
	for i := range moved {
		a := &moved[i]
		if a.UserEnv == "" {
			continue
		}
		dir := strings.ReplaceAll(getenv(a.UserEnv), `\`, "/")
		if !isAbs(dir) {
			continue
		}
		if below, ok := strings.CutPrefix(path.Clean(dir), strings.TrimSuffix(strings.ReplaceAll(home, `\`, "/"),
			"/")+"/"); ok {
			dir = below
		}
		first, _, _ := strings.Cut(a.Mark, "/")
		a.Mark = rebase(a.Mark, first, dir)
		a.User = rebase(a.User, first, dir)
	}
	return moved
}

// isAbs reports whether a slash-separated directory is absolute on any system.
func isAbs(dir string) bool {
	return strings.HasPrefix(dir, "/") || len(dir) > 2 && dir[1] == ':' && dir[2] == '/'
}

// rebase puts dir in the place of p's first directory, if that is first.
func rebase(p, first, dir string) string {
	if p == first {
		return dir
	}
	if rest, ok := strings.CutPrefix(p, first+"/"); ok {
		return path.Join(dir, rest)
	}
	return p
}

// Dirs returns the skill directories of the agents in the order given, each once: those of the home directory if user
// is true, else those of a project. For no agents it returns [Shared].
func Dirs(agents []Agent, user bool) []string {
	var dirs []string
	for _, a := range agents {
		dir := a.Project
		if user {
			dir = a.User
		}
		if dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return []string{Shared}
	}
	return dirs
}
