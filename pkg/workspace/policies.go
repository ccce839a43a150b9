package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/scope"
)

// The names of policy files: of the machine and of the user, in their directories, and of a project, beside its manifest.
const (
	PolicyName        = "policy.yaml"
	ProjectPolicyName = "skillpm-policy.yaml"
)

// PolicyFiles returns where policies may be: the machine's, the user's, and that of a project, if there is one.
func (m *Machine) PolicyFiles(project string) []string {
	files := []string{filepath.Join(m.Paths.Enterprise, PolicyName), filepath.Join(m.Paths.Config, PolicyName)}
	if project != "" {
		files = append(files, filepath.Join(project, ProjectPolicyName))
	}
	return files
}

// Policies returns the policies in force: those of the files that exist. One that can't be read, is not valid, or is the
// machine's and could have been written by others than its administrator, denies everything.
func (m *Machine) Policies(project string) policy.Set {
	var set policy.Set
	for i, file := range m.PolicyFiles(project) {
		if p := m.readPolicy(file, i == 0); p != nil {
			set = append(set, p)
		}
	}
	return set
}

// Policies returns the policies in force for the scope. Around may be a project that it is made for, whose policy holds, too.
func (w *Workspace) Policies(around string) policy.Set {
	set := w.machine.Policies(w.project())
	if around != "" {
		if p := w.machine.readPolicy(filepath.Join(around, ProjectPolicyName), false); p != nil {
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

func (m *Machine) readPolicy(file string, machines bool) *policy.Policy {
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return policy.Broken(file, err)
	case machines:
		if err := m.checkAdmin(file, info); err != nil {
			return policy.Broken(file, err)
		}
	}
	data, err := ReadOptional(file)
	if err != nil {
		return policy.Broken(file, err)
	}
	if data == nil {
		data = []byte{} // it went away: what it said is not known
	}
	p, err := policy.Parse(file, data)
	if err != nil {
		return policy.Broken(file, err)
	}
	return p
}

// checkAdmin checks that nobody but the administrator can have written the machine's policy.
func (m *Machine) checkAdmin(file string, info fs.FileInfo) error {
	if m.OS == "windows" {
		return nil // where the directory is made by administrators, and its list of rights is not looked at
	}
	dir, err := os.Lstat(filepath.Dir(file))
	if err != nil {
		return err
	}
	return policy.CheckOwner(m.Admin, stat(filepath.Dir(file), dir), stat(file, info))
}
