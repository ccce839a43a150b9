package workspace

import (
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// PolicyFiles returns where policies are.
func (m *Machine) PolicyFiles() enforce.Files {
	paths := m.Paths
	if m.PolicyDir != "" {
		paths.Enterprise = m.PolicyDir
	}
	return enforce.Files{Paths: paths, OS: m.OS, Admin: m.Admin}
}

// Guard returns the evaluator of the policies in effect for some projects.
func (m *Machine) Guard(projects ...string) *enforce.Evaluator {
	return enforce.Open(enforce.Options{
		Files: m.PolicyFiles(), Projects: projects, Now: m.Now, Lint: lint.ProjectRules(safefile.Dirs(projects)),
	})
}

// Guard returns the evaluator of the policies in effect for the scope and for another project, "" for none.
func (w *Workspace) Guard(project string) *enforce.Evaluator {
	return w.machine.Guard(w.projectDir(), project)
}

// projectDir returns the directory of the project, "" for the other scopes.
func (w *Workspace) projectDir() string {
	if w.Scope.Kind != scope.KindProject {
		return ""
	}
	return w.Scope.Root
}
