package attach

import (
	"os"
	"path/filepath"
	"slices"
)

// Detect returns the hosts of which there is a sign: those whose agents are in use, given by their ids in pkg/agent, and
// those whose own directories exist.
func Detect(e Env, agents []string) []Host {
	return slices.DeleteFunc(Hosts(), func(h Host) bool {
		return !slices.Contains(agents, h.Agent) && (h.Agent != "" || !e.marked(h))
	})
}

// marked reports whether the directory of one of a host's files exists.
func (e Env) marked(h Host) bool {
	return slices.ContainsFunc(slices.Concat(h.hooks, h.servers), func(p place) bool {
		dir := filepath.Dir(e.file(p))
		if !filepath.IsAbs(dir) || dir == e.Home || dir == e.Project {
			return false
		}
		info, err := os.Stat(dir)
		return err == nil && info.IsDir()
	})
}
