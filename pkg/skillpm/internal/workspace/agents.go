package workspace

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// AgentDir is a directory that agents read skills from.
type AgentDir struct {
	Dir    string   `json:"dir"`    // slash-separated, relative to the scope's root
	Agents []string `json:"agents"` // titles of the agents that read it
	real   string   // its real path below the real root, slash-separated
}

// AgentChoice changes for one operation which agents skills are linked for.
type AgentChoice struct {
	Only []string // ids; replace those of the manifest and the settings

	// If agents are detected, these apply.
	Also    []string // ids of further agents
	Without []string // directories of AgentDirs that do not show that an agent is in use if they contain only links
	Deleted []string // absolute paths of files that count as missing
}

// AgentDirs returns the directories to link skills in: those of the agents that the call, the manifest, or the user's
// settings name; otherwise those of the agents that this machine shows signs of; otherwise the one that most agents
// share. Directories with the same real path are listed once. A directory outside the scope is an error for a named
// agent, and is skipped with a warning for a detected one.
func (w *Workspace) AgentDirs(c AgentChoice) (dirs []AgentDir, warnings []string, err error) {
	if w.Scope.Kind == scope.KindEnterprise {
		return nil, nil, nil // skillpm serves that layer to all of them
	}
	agents, found, err := w.agents(c)
	if err != nil {
		return nil, nil, err
	}
	root, err := pathx.ResolveExisting(w.Scope.Root)
	if err != nil {
		return nil, nil, err
	}
	user := w.Scope.Kind == scope.KindUser
	for _, dir := range agent.Dirs(agents, user) {
		real, err := realDir(root, dir)
		if err != nil {
			if found {
				warnings = append(warnings, err.Error()+"; skillpm does not link skills for agents that read this directory")
				continue
			}
			return nil, nil, err
		}
		titles := readerTitles(agents, dir, user)
		if i := slices.IndexFunc(dirs, func(d AgentDir) bool { return d.real == real }); i >= 0 {
			dirs[i].Agents = append(dirs[i].Agents, titles...)
			continue
		}
		dirs = append(dirs, AgentDir{Dir: dir, Agents: append([]string{}, titles...), real: real})
	}
	return dirs, warnings, nil
}

// agents returns the agents to link for, and whether they were detected rather than named.
func (w *Workspace) agents(c AgentChoice) (agents []agent.Agent, found bool, err error) {
	for _, ids := range [][]string{c.Only, w.Manifest.Agents, w.Config.Agents} {
		if slices.Contains(ids, agent.DetectedID) {
			break
		}
		if len(ids) == 0 {
			continue
		}
		agents, err = agent.LookupAll(ids)
		return w.machine.Relocate(agents), false, err
	}
	agents = w.detect(c)
	for _, id := range c.Also {
		also, err := agent.Lookup(id)
		if err != nil {
			return nil, false, err
		}
		if !slices.ContainsFunc(agents, func(a agent.Agent) bool { return a.ID == also.ID }) {
			agents = append(agents, w.machine.Relocate([]agent.Agent{also})...)
		}
	}
	return agents, true, nil
}

// DetectedAgents returns the agents that this machine shows signs of, in the scope or in the home directory.
func (w *Workspace) DetectedAgents() []agent.Agent { return w.detect(AgentChoice{}) }

// LinkedAgents returns the detected agents that have links or copies of installed skills.
func (w *Workspace) LinkedAgents() []agent.Agent {
	user := w.Scope.Kind == scope.KindUser
	dirs, _, err := w.AgentDirs(AgentChoice{Only: []string{agent.DetectedID}})
	if err != nil {
		return nil
	}
	linked := map[string]bool{}
	links := w.ownLinks(dirs)
	for _, dir := range dirs {
		inDir := func(at string) bool { return path.Dir(at) == dir.real }
		linked[dir.Dir] = hasKey(links, inDir) || hasKey(w.state.Trees, inDir)
	}
	return slices.DeleteFunc(w.DetectedAgents(), func(a agent.Agent) bool {
		return !slices.ContainsFunc(agent.Dirs(w.machine.Relocate([]agent.Agent{a}), user),
			func(dir string) bool { return linked[dir] })
	})
}

// hasKey reports whether a map has a key with a property.
func hasKey[V any](m map[string]V, has func(string) bool) bool {
	for key := range m {
		if has(key) {
			return true
		}
	}
	return false
}

func (w *Workspace) detect(c AgentChoice) []agent.Agent {
	projectDir := w.Scope.Root
	if w.Scope.Kind == scope.KindUser {
		projectDir = ""
	}
	redetect := slices.Contains(c.Only, agent.DetectedID) && len(w.Manifest.Agents)+len(w.Config.Agents) > 0
	exists := func(path string) bool {
		dir := filepath.FromSlash(path)
		return w.indicatesAgent(dir, redetect || c.drops(w.Scope, dir), c.Deleted)
	}
	return agent.InUse(exists, projectDir, w.machine.Paths.Home, w.machine.Getenv)
}

// drops reports whether dir is one of the directories in Without, or contains one.
func (c AgentChoice) drops(s scope.Scope, dir string) bool {
	return slices.ContainsFunc(c.Without, func(without string) bool {
		return pathx.Contains(dir, s.Abs(without))
	})
}

// indicatesAgent reports whether a directory shows that an agent is in use. A directory that contains only links of
// skillpm does not, if it is in the home directory and the scope is a project, or if strict is set. Otherwise skillpm
// made the links because the directory existed.
func (w *Workspace) indicatesAgent(dir string, strict bool, deleted []string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	for _, s := range []scope.Scope{w.Scope, w.machine.Paths.User()} {
		if pathx.ContainsStrict(s.Root, dir) {
			return s.Root == w.Scope.Root && !strict || !w.onlyLinks(dir, s, deleted)
		}
	}
	return true
}

// onlyLinks reports whether a directory contains links or copies of skillpm and, apart from deleted files, nothing
// else, at any depth.
func (w *Workspace) onlyLinks(dir string, s scope.Scope, deleted []string) bool {
	links := 0
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, copied := w.state.Trees[w.Rel(at)]; copied && s.Root == w.Scope.Root {
			links++
			return filepath.SkipDir
		}
		switch {
		case isEmptyDir(at):
			return fs.ErrExist
		case e.IsDir(), slices.Contains(deleted, at):
			return nil
		case e.Name() == ignoreName:
			if data, err := safefile.ReadOptional(at); err == nil && isGeneratedIgnore(data) {
				return nil
			}
		}
		target, err := os.Readlink(at)
		if err != nil {
			return err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		if !pathx.ContainsStrict(s.Plugins(), target) && !pathx.ContainsStrict(s.Links(), target) {
			return fs.ErrExist
		}
		links++
		return nil
	})
	return err == nil && links > 0
}

// removeEmptyDirs removes the directories of agents for which skillpm no longer links, if removing links left them
// empty.
func (w *Workspace) removeEmptyDirs(removed []string, dirs []AgentDir) {
	served := func(at string) bool {
		return slices.ContainsFunc(dirs, func(d AgentDir) bool {
			return d.real == at || strings.HasPrefix(d.real, at+"/")
		})
	}
	known := agent.Dirs(w.machine.Relocate(agent.All()), w.Scope.Kind == scope.KindUser)
	for _, at := range removed {
		if dir := path.Dir(at); slices.Contains(known, dir) {
			for ; dir != "." && !served(dir) && isEmptyDir(w.Scope.Abs(dir)); dir = path.Dir(dir) {
				if os.Remove(w.Scope.Abs(dir)) != nil {
					break
				}
			}
		}
	}
}

// isEmptyDir reports whether a path is an empty directory, and not a link to one.
func isEmptyDir(at string) bool {
	info, err := os.Lstat(at)
	if err != nil || !info.IsDir() {
		return false
	}
	entries, err := os.ReadDir(at)
	return err == nil && len(entries) == 0
}

// readerTitles returns the titles of the agents that read a directory.
func readerTitles(agents []agent.Agent, dir string, user bool) []string {
	var titles []string
	for _, a := range agents {
		if a.ID != agent.SharedID && slices.Contains(agent.Dirs([]agent.Agent{a}, user), dir) {
			titles = append(titles, a.Title)
		}
	}
	return titles
}

// realDir resolves dir, which need not exist, below the real path root, and returns it relative to root.
func realDir(root, dir string) (string, error) {
	path := filepath.FromSlash(dir)
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	resolved, err := pathx.ResolveDir(path)
	if err != nil {
		return "", diag.Errorf(diag.Invalid, "cannot use the agent directory %s: %v", dir, err)
	}
	rel, ok := pathx.Rel(root, resolved)
	if !ok {
		return "", diag.Errorf(diag.Denied, "the agent directory %s leads to %s, which is outside %s",
			dir, resolved, root)
	}
	return filepath.ToSlash(rel), nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
