package enforce

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy"
)

// The names of policy files: of the machine and of the user, in their directories, and of a project, beside its
// manifest.
const (
	PolicyName        = "policy.yaml"
	ProjectPolicyName = "skillpm-policy.yaml"
)

// Files say where policies are, and who may have written the machine's.
type Files struct {
	Paths scope.Paths
	OS    string // as runtime.GOOS
	Admin int    // the user id of the machine's administrator
}

// List returns where policies may be: the machine's, the user's, and that of a project, if there is one.
func (f Files) List(project string) []string {
	files := []string{joinDir(f.Paths.Enterprise, PolicyName), joinDir(f.Paths.Config, PolicyName)}
	if project != "" {
		files = append(files, filepath.Join(project, ProjectPolicyName))
	}
	return files
}

// joinDir returns the path of a file in a directory, "" where there is no directory: what lies in the working directory
// is nobody's.
func joinDir(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// Policies returns the policies in force: those of the files that exist. One that can't be read, is not valid, or is
// the machine's and could have been written by others than its administrator, denies everything.
func (f Files) Policies(project string) policy.Set {
	if project == "" {
		return f.policies(nil)
	}
	return f.policies([]string{project})
}

// policies is Policies for any number of projects.
func (f Files) policies(projects []string) policy.Set {
	var set policy.Set
	add := func(file string, level policy.Level) {
		if p := f.read(file, level == policy.MachineLevel); p != nil {
			p.Level = level
			set = append(set, p)
		}
	}
	files := f.List("")
	add(files[0], policy.MachineLevel)
	add(files[1], policy.UserLevel)
	for _, dir := range projects {
		if dir != "" {
			add(filepath.Join(dir, ProjectPolicyName), policy.ProjectLevel)
		}
	}
	return set
}

// Project returns the policy of a project, nil for none.
func (f Files) Project(dir string) *policy.Policy {
	return f.read(filepath.Join(dir, ProjectPolicyName), false)
}

func (f Files) read(file string, machines bool) *policy.Policy {
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return policy.Broken(file, err)
	case machines:
		if err := f.checkAdmin(file, info); err != nil {
			return policy.Broken(file, err)
		}
	}
	data, err := readOptional(file)
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
	p.Digest = digest(data)
	return p
}

// checkAdmin checks that nobody but the administrator can have written the machine's policy.
func (f Files) checkAdmin(file string, info fs.FileInfo) error {
	if f.OS == "windows" {
		return nil // where the directory is made by administrators, and its list of rights is not looked at
	}
	dir, err := os.Lstat(filepath.Dir(file))
	if err != nil {
		return err
	}
	return policy.CheckOwner(f.Admin, stat(filepath.Dir(file), dir), stat(file, info))
}

// mostRead is the size in bytes of a policy that is read at most.
const mostRead = 4 << 20

// readOptional returns what is in a regular file, nil where there is none.
func readOptional(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := safefile.Check(path, info, mostRead); err != nil {
		return nil, err
	}
	data, err := safefile.ReadFile(path, mostRead)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}
