package agent

import (
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Shared is the directory that most agents read, in a project and in the home directory. Skills are linked into it if
// no agent was requested or detected.
const Shared = ".agents/skills"

// SharedID is the id of the entry for [Shared], which stands for all agents that read it.
const SharedID = "agents"

// Words that replace ids of agents.
const (
	AllID      = "all"      // all agents with their own skill directory
	DetectedID = "detected" // all agents in use, which is also the default; not allowed in files
)

// Agent is one program that reads skills. Agents are comparable.
type Agent struct {
	ID      string // as in a manifest's agents list, commands, and the audit log
	Aliases string // other accepted ids, separated by spaces
	Title   string // the official name
	Project string // skill directory in a project, slash-separated
	User    string // skill directory in the home directory, slash-separated; "" if it has none
	// environment variable that replaces the first directory of Mark, such as CLAUDE_CONFIG_DIR for ~/.claude
	UserEnv string
	Mark    string // directory that exists if the agent is in use; "" if the agent is never detected
	Profile string // id of its skills' profile; "" for the default
	// Order lists the skill directories that the agent reads, separated by spaces, the strongest first: ./DIR/skills of
	// the project, ~/DIR/skills of the user. It is only set for agents with hooks; "" for those of the profile.
	Order string
	// Unordered means that which of several skills with one name the agent loads does not follow from their directories.
	Unordered bool
	// Tested is the newest version of the program in which tests have shown what skillpm does, "" if skillpm follows
	// the agent's documentation only.
	Tested string
}

// FromDocumentation stands for [Agent.Tested] of an agent that no test has run.
const FromDocumentation = "from documentation"

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

// Is reports whether a is the agent with an id or an alias.
func (a Agent) Is(id string) bool {
	return id != "" && (a.ID == id || slices.Contains(strings.Fields(a.Aliases), id))
}

// Canonical returns the id for an id or an alias, and other ids unchanged.
func Canonical(id string) string {
	if a, ok := Find(id); ok {
		return a.ID
	}
	return id
}

// Find returns the agent with an id or an alias, and whether it exists.
func Find(id string) (Agent, bool) {
	i := slices.IndexFunc(table[:], func(a Agent) bool { return a.Is(id) })
	if i < 0 {
		return Agent{}, false
	}
	return table[i], true
}

// Lookup is [Find] for user input: an unknown id is an error that names the most similar one.
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
	return Agent{}, err.WithHint(
		"list agents with \"skillpm agents --all\", or use the id agents for the shared directory %s", Shared)
}

// LookupAll returns the agents with the given ids, in order and without duplicates. [AllID] means all agents with their
// own directory.
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

// own returns the agents with their own skill directory, except the given ones. An agent whose directory may contain
// other files must be requested by id.
func own(but []Agent) []Agent {
	return slices.DeleteFunc(All(), func(a Agent) bool {
		return !strings.HasPrefix(a.Project, ".") ||
			slices.Contains(but, a)
	})
}

// Detect returns the agents in use, sorted by id: those whose mark exists in the home directory, or whose own directory
// exists in the project. Either directory may be "". The function exists receives the directory joined with a
// slash-separated path.
func Detect(exists func(path string) bool, project, home string) []Agent {
	return DetectAmong(table[:], exists, project, home)
}

// DetectAmong is Detect for some agents, for example those from [Relocate], whose marks may be absolute.
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

// InUse is [Detect] with the agents' environment variables applied.
func InUse(exists func(path string) bool, project, home string, getenv func(string) string) []Agent {
	return DetectAmong(Relocate(table[:], home, getenv), exists, project, home)
}

// projectMark is the directory that shows an agent's use in a project: its own directory or, for an agent that reads
// the shared directory, its mark in the home directory. It is "" for an agent that is never detected.
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

// DetectedByLinks reports whether the agent is detected after skills were linked in its directory: that of the home
// directory if user is true, otherwise that of a project.
func (a Agent) DetectedByLinks(user bool) bool {
	dir, mark := a.Project, a.projectMark()
	if user {
		dir, mark = a.User, a.Mark
	}
	return dir == Shared || mark != "" && strings.HasPrefix(dir, mark+"/")
}

// Relocate returns the agents with the directories that their environment variables move. A directory below home stays
// relative to it; another one becomes absolute, with forward slashes.
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

// rebase replaces p's first directory by dir, if it is first.
func rebase(p, first, dir string) string {
	if p == first {
		return dir
	}
	if rest, ok := strings.CutPrefix(p, first+"/"); ok {
		return path.Join(dir, rest)
	}
	return p
}

// Dirs returns the skill directories of the agents, in order and without duplicates: those of the home directory if
// user is true, otherwise those of a project. Without agents it returns [Shared].
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
