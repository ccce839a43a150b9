package connect

import (
	"os"
	"path/filepath"
	"slices"
)

// Detect returns the agents of which there is a sign: those whose agents are in use, given by their ids in
// pkg/skill/agent, those that one of their files is there for, and of those that have no mark there the ones with a
// directory.
func Detect(e Env, agents []string) []Agent {
	return slices.DeleteFunc(Agents(), func(h Agent) bool { return !slices.Contains(agents, h.ID) && !e.hasSign(h) })
}

// hasSign reports whether one of an agent's files exists, or, for one without a mark in the table of agents, its
// directory.
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
