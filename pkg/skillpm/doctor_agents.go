package skillpm

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// checkAgentDirs looks whether skills can be linked where agents read them.
func checkAgentDirs(x *examination) {
	for _, warning := range x.linked {
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Message: warning, Means: "nothing is linked through a link that leaves the scope",
			Fix: "replace the link by a directory, or leave that agent out with --agent",
		})
	}
	for _, dir := range x.layout.Dirs {
		who := "all that read it"
		if len(dir.Agents) > 0 {
			who = strings.Join(dir.Agents, ", ")
		}
		x.fact("agents, "+x.work.Scope.Kind, dir.Dir+" for "+who)
		at := nearest(x.work.Scope.Abs(dir.Dir))
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: dir.Dir, Message: at + " is no directory", Means: "no skill can be linked there", Fix: "move it away",
			})
		case !writable(at):
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: dir.Dir, Message: at + " is not writable", Means: "no skill can be linked there",
				Fix: "make it writable for you, or leave its agents out with --agent",
			})
		}
	}
}

// nearest returns the path, or the nearest directory above it that exists.
func nearest(at string) string {
	for {
		if _, err := os.Lstat(at); err == nil || filepath.Dir(at) == at {
			return at
		}
		at = filepath.Dir(at)
	}
}

// checkAgentsAsked looks whether the agents that the manifest asks for are in use here.
func checkAgentsAsked(x *examination) {
	asked := x.work.Manifest.Agents
	if len(asked) == 0 {
		return
	}
	projectDir := x.work.Scope.Root
	if x.work.Scope.Kind == scope.KindUser {
		projectDir = ""
	}
	seen := x.agentsInUse(projectDir)
	for _, id := range asked {
		a, err := agent.Lookup(id)
		if err != nil || a.Mark == "" || a.ID == agent.SharedID {
			continue // it is checked where the manifest is read, or leaves no sign
		}
		if !slices.ContainsFunc(seen, func(s agent.Agent) bool { return s.ID == id }) {
			x.find(Diagnosis{
				Severity: diag.SeverityAdvice, Path: scope.ManifestName,
				Message: fmt.Sprintf("skillpm.yaml asks for %s, of which there is no sign on this machine", a.Title),
				Means:   "its links are made all the same",
			})
		}
	}
}

// agentsInUse returns the agents of which there is a sign, in a project or the home directory.
func (x *examination) agentsInUse(projectDir string) []agent.Agent {
	exists := func(at string) bool { return isDirectory(filepath.FromSlash(at)) }
	return agent.InUse(exists, projectDir, x.client.Paths.Home, x.client.Getenv)
}

// checkForeignLinks looks for links in agents' directories that are not skillpm's.
func checkForeignLinks(x *examination) {
	ours, verified := map[string]bool{}, map[string]bool{}
	for _, dir := range x.layout.Dirs {
		verified[pathx.ResolveOrClean(x.work.Scope.Abs(dir.Dir))] = x.work.Locked()
	}
	for _, n := range x.layout.Named {
		for _, dir := range x.layout.Dirs {
			ours[filepath.Join(pathx.ResolveOrClean(x.work.Scope.Abs(dir.Dir)), n.Link)] = true
		}
	}
	seen := map[string]string{}
	for _, dir := range agent.Dirs(agent.All(), x.work.Scope.Kind == scope.KindUser) {
		if filepath.IsAbs(filepath.FromSlash(dir)) {
			continue
		}
		real := pathx.ResolveOrClean(x.work.Scope.Abs(dir))
		if first, ok := seen[real]; ok {
			if isDirectory(real) {
				x.fact("agents, "+x.work.Scope.Kind, dir+" is "+first)
			}
			continue
		}
		seen[real] = dir
		var others []string
		for _, e := range entries(x.work.Scope.Abs(dir)) {
			at := path.Join(dir, e.Name())
			abs := x.work.Scope.Abs(at)
			target, err := os.Readlink(abs)
			if err != nil || ours[filepath.Join(real, e.Name())] {
				continue
			}
			_, err = os.Stat(abs)
			switch {
			case verified[real] && x.leadsIn(abs, target):
				continue // checkInstalled says so
			case err != nil:
				x.find(Diagnosis{
					Severity: diag.SeverityWarning, Path: at, Message: "the link leads to " + target + ", which is not there",
					Means: "agents find no skill there", Fix: "remove it, or repeat what made it",
				})
				continue
			}
			others = append(others, e.Name())
		}
		if len(others) > 0 {
			x.find(Diagnosis{
				Severity: diag.SeverityAdvice, Path: dir, Message: "links that another tool or somebody made: " + strings.Join(others, ", "),
				Means: "skillpm leaves them as they are, and gives no skill of its own their names",
			})
		}
	}
}

func isDirectory(at string) bool {
	info, err := os.Stat(at)
	return err == nil && info.IsDir()
}

// leadsIn reports whether a link leads into skillpm's own directory.
func (x *examination) leadsIn(at, target string) bool {
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(at), target)
	}
	return pathx.ContainsStrict(x.work.Scope.Dir(), target)
}
