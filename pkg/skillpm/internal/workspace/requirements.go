package workspace

import (
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Missing returns what an installed skill declares as required and this machine lacks. A skill that cannot be read
// requires nothing here: other checks report it. A skill that a change has just written is not read again; the change
// may be nil.
func (w *Workspace) Missing(id pack.ID, name string, applied *Change) []skill.Missing {
	at := w.SkillAt(id, name)
	if applied != nil {
		if needs, written := applied.requirements[at]; written {
			return w.Unmet(needs)
		}
	}
	data, err := safefile.ReadFile(filepath.Join(w.abs(at), skill.File), skill.MaxFile)
	if err != nil || !skill.MayRequire(data) {
		return nil
	}
	doc, _ := skill.Parse(data)
	return w.Unmet(doc.Requirements())
}

// Unmet returns the requirements that this machine does not meet.
func (w *Workspace) Unmet(needs skill.Requirements) []skill.Missing {
	return needs.Missing(w.abilities())
}

// abilities returns what the machine and its agents have, for [skill.Requirements].
func (w *Workspace) abilities() skill.Machine {
	m := w.machine
	path := m.Getenv("PATH")
	env := connect.Env{Home: m.Paths.Home, OS: m.OS, Getenv: m.Getenv, State: m.Paths.State}
	if w.Scope.Kind == scope.KindProject {
		env.Project = w.Scope.Root
	}
	return skill.Machine{
		OS:       m.OS,
		Program:  func(name string) bool { _, ok := environ.LookPath(name, path); return ok },
		Variable: func(name string) bool { return m.Getenv(name) != "" },
		Server: func(name string) bool {
			if w.mcpServers == nil {
				w.mcpServers = connect.Servers(env)
			}
			return w.mcpServers[name]
		},
	}
}
