package connect

import (
	"os"
	"path/filepath"
	"slices"
)

// Detect returns the agents that appear to be installed: those that the caller has detected, by their ids in
// pkg/skill/agent, those with a configuration file and, if the table of agents has no mark for an agent, those with a
// configuration directory.
func Detect(e Env, agents []string) []Agent {
	return slices.DeleteFunc(Agents(), func(h Agent) bool { return !slices.Contains(agents, h.ID) && !e.hasSign(h) })
}

// hasSign reports whether one of an agent's files exists or, if the table of agents has no mark for it, its directory.
func (e Env) hasSign(h Agent) bool {
	return slices.ContainsFunc(slices.Concat(h.hooks, h.servers), func(p configFile) bool {
		file := e.file(p)
		if !filepath.IsAbs(file) || p.scope == Enterprise {
			return false
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return true
		}
		info, err := os.Stat(filepath.Dir(file))
		return h.Mark == "" && err == nil && info.IsDir()
	})
}
