package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/agent"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/scope"
)

// AgentDir is a directory that agents read skills from.
type AgentDir struct {
	Dir    string   `json:"dir"`    // slash-separated, relative to the scope's root
	Agents []string `json:"agents"` // titles of the agents that were asked for or found and read it
	real   string   // its real path relative to the real root, slash-separated
}

// AgentDirs returns the directories to link skills in: those of the agents that the call, the manifest or the user's
// settings ask for, else of those that this machine shows signs of, else the one that most agents share. Directories
// that are really one are listed once. One that leads outside the scope is an error if it was asked for, and is left
// out with a warning if it was only found.
func (w *Workspace) AgentDirs(asked []string) (dirs []AgentDir, warnings []string, err error) {
	agents, found, err := w.agents(asked)
	if err != nil {
		return nil, nil, err
	}
	root, err := filepath.EvalSymlinks(w.Scope.Root)
	if err != nil {
		return nil, nil, err
	}
	user := w.Scope.Kind == scope.KindUser
	for _, dir := range agent.Dirs(agents, user) {
		real, err := realDir(root, dir)
		if err != nil {
			if found {
				warnings = append(warnings, err.Error()+"; its agents get no links")
				continue
			}
			return nil, nil, err
		}
		titles := readers(agents, dir, user)
		if i := slices.IndexFunc(dirs, func(d AgentDir) bool { return d.real == real }); i >= 0 {
			dirs[i].Agents = append(dirs[i].Agents, titles...)
			continue
		}
		dirs = append(dirs, AgentDir{Dir: dir, Agents: titles, real: real})
	}
	return dirs, warnings, nil
}

// agents returns the agents to serve, and whether they were found rather than asked for.
func (w *Workspace) agents(asked []string) (agents []agent.Agent, found bool, err error) {
	home := w.machine.Paths.Home
	for _, ids := range [][]string{asked, w.Manifest.Agents, w.Config.Agents} {
		if slices.Contains(ids, agent.DetectedID) {
			break
		}
		if len(ids) == 0 {
			continue
		}
		agents, err = agent.LookupAll(ids)
		return agent.Relocate(agents, home, w.machine.Getenv), false, err
	}
	projectDir := w.Scope.Root
	if w.Scope.Kind == scope.KindUser {
		projectDir = ""
	}
	exists := func(path string) bool {
		info, err := os.Stat(filepath.FromSlash(path))
		return err == nil && info.IsDir()
	}
	known := agent.Relocate(agent.All(), home, w.machine.Getenv)
	return agent.DetectAmong(known, exists, projectDir, home), true, nil
}

// readers names the agents that read a directory.
func readers(agents []agent.Agent, dir string, user bool) []string {
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
	resolved, rest := path, ""
	for {
		real, err := filepath.EvalSymlinks(resolved)
		if err == nil {
			resolved = filepath.Join(real, rest)
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || isLink(resolved) {
			return "", diag.Errorf(diag.Invalid, "agent directory %s cannot be used: %v", dir, err)
		}
		rest = filepath.Join(filepath.Base(resolved), rest)
		resolved = filepath.Dir(resolved)
	}
	rel, err := filepath.Rel(root, resolved)
	if err != nil || !filepath.IsLocal(rel) {
		return "", diag.Errorf(diag.Denied, "agent directory %s leads to %s, outside %s", dir, resolved, root)
	}
	return filepath.ToSlash(rel), nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
