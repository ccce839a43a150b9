package workspace

import (
	"github.com/skillpm/skillpm/pkg/guard"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/scope"
)

// PolicyFiles says where policies are.
func (m *Machine) PolicyFiles() guard.Files {
	return guard.Files{Paths: m.Paths, OS: m.OS, Admin: m.Admin}
}

// Policies returns the policies in force for the scope. Around may be a project that it is made for, whose policy holds, too.
func (w *Workspace) Policies(around string) policy.Set {
	files := w.machine.PolicyFiles()
	set := files.Policies(w.project())
	if around != "" {
		if p := files.Project(around); p != nil {
			set = append(set, p)
		}
	}
	return set
}

// project returns the directory of the project, "" for the user's scope.
func (w *Workspace) project() string {
	if w.Scope.Kind == scope.KindUser {
		return ""
	}
	return w.Scope.Root
}
