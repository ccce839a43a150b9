package host

import (
	"github.com/skillpm/skillpm/pkg/catalog"
	"github.com/skillpm/skillpm/pkg/guard"
	"github.com/skillpm/skillpm/pkg/sandbox"
)

// confine asks a guard what the commands of a skill may do that run in a directory.
func confine(g *guard.Guard, about guard.Skill, l *catalog.Loaded, work, project string) (*sandbox.Rules, []string, error) {
	e := l.Front.Execution
	wish := guard.Wish{Sandbox: e.Sandbox, AllowedPaths: e.AllowedPaths, Network: e.Network}
	return g.Confine(about, wish, guard.Place{Dir: l.Dir, Work: work, Project: project})
}
