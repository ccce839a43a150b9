package workspace

import (
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// PolicyFiles says where policies are.
func (m *Machine) PolicyFiles() enforce.Files {
	paths := m.Paths
	if m.PolicyDir != "" {
		paths.Enterprise = m.PolicyDir
	}
	return enforce.Files{Paths: paths, OS: m.OS, Admin: m.Admin}
}

// Guard returns what decides by the policies in force for some projects.
func (m *Machine) Guard(projects ...string) *enforce.Evaluator {
	return enforce.Open(enforce.Options{Files: m.PolicyFiles(), Projects: projects, Now: m.Now, Lint: lint.RunRules})
}

// Guard returns what decides by the policies in force for the scope. Around may be a project that it is made for, whose
// policy holds, too.
func (w *Workspace) Guard(around string) *enforce.Evaluator {
	return w.machine.Guard(w.project(), around)
}

// project returns the directory of the project, "" for the other scopes.
func (w *Workspace) project() string {
	if w.Scope.Kind != scope.KindProject {
		return ""
	}
	return w.Scope.Root
}
