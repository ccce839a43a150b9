package enforce

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
)

// The names of policy and approval files: in the directories of the machine and of the user, and beside a project's
// manifest.
const (
	PolicyName           = "policy.yaml"
	ProjectPolicyName    = "skillpm-policy.yaml"
	ApprovalsName        = "approvals.yaml"
	ProjectApprovalsName = "skillpm-approvals.yaml"
)

// Files locate the policies, and identify the machine's administrator.
type Files struct {
	Paths scope.Paths
	OS    string // as runtime.GOOS
	Admin int    // user id of the machine's administrator
}

// PolicyFile returns the path of a level's policy; "" for a level without a directory, and for a project if there is
// none.
func (f Files) PolicyFile(l policy.Level, project string) string {
	return f.file(l, project, PolicyName, ProjectPolicyName)
}

// ApprovalFile returns the path of a level's approvals; see [Files.PolicyFile].
func (f Files) ApprovalFile(l policy.Level, project string) string {
	return f.file(l, project, ApprovalsName, ProjectApprovalsName)
}

// file returns the path of a file in a level's directory, "" if the level has no directory. A relative path would be in
// the working directory, where anybody may have put it.
func (f Files) file(l policy.Level, project, name, projectName string) string {
	dir := project
	switch l {
	case policy.MachineLevel:
		dir = f.Paths.Enterprise
	case policy.UserLevel:
		dir = f.Paths.Config
	default:
		name = projectName
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// levels yields the levels with their projects, the machine first.
func levels(projects []string) iter.Seq2[policy.Level, string] {
	return func(yield func(policy.Level, string) bool) {
		if !yield(policy.MachineLevel, "") || !yield(policy.UserLevel, "") {
			return
		}
		for _, dir := range projects {
			if dir != "" && !yield(policy.ProjectLevel, dir) {
				return
			}
		}
	}
}

// Policies returns the policies of the files that exist. A policy denies everything if it cannot be read, if it is not
// valid, or if it is the machine's and users other than the administrator could have written it.
func (f Files) Policies(projects ...string) policy.Set {
	var set policy.Set
	for l, dir := range levels(projects) {
		if p := f.read(f.PolicyFile(l, dir), l == policy.MachineLevel); p != nil {
			p.Level = l
			set = append(set, p)
		}
	}
	return set
}

// Project returns the policy of a project, nil for none.
func (f Files) Project(dir string) *policy.Policy {
	return f.read(filepath.Join(dir, ProjectPolicyName), false)
}

func (f Files) read(file string, machines bool) *policy.Policy {
	_, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return policy.Broken(file, err)
	case machines:
		if err := f.CheckAdmin(filepath.Dir(file), file); err != nil {
			return policy.Broken(file, err)
		}
	}
	data, err := readOptional(file)
	if err != nil {
		return policy.Broken(file, err)
	}
	if data == nil {
		data = []byte{} // the file disappeared: an empty policy is not valid and denies everything
	}
	p, err := policy.Parse(file, data)
	if err != nil {
		return policy.Broken(file, err)
	}
	p.Digest = "sha256:" + textx.SHA256(data)
	return p
}

// CheckAdmin returns an error unless all paths exist and only the administrator could have written them. On Windows
// only administrators can create the directories in question; access control lists are not checked.
func (f Files) CheckAdmin(paths ...string) error {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if f.OS == "windows" {
			continue
		}
		if err := policy.CheckOwner(f.Admin, stat(path, info)); err != nil {
			return err
		}
	}
	return nil
}

// maxPolicyFile is the maximum size of a policy file in bytes.
const maxPolicyFile = 4 << 20

// readOptional reads a regular file. It returns nil if there is none.
func readOptional(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := safefile.Check(path, info, maxPolicyFile); err != nil {
		return nil, err
	}
	data, err := safefile.ReadFile(path, maxPolicyFile)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// GoverningFile is the path of a policy or approval file, which may not exist.
type GoverningFile struct {
	Path   string
	Level  policy.Level
	Exists bool
	Err    error // why it does not count, nil if it does
}

// PolicyFiles returns the possible policy files, the machine's first.
func (g *Evaluator) PolicyFiles() (files []GoverningFile) {
	for l, project := range levels(g.o.Projects) {
		files = append(files, GoverningFile{Path: g.o.PolicyFile(l, project), Level: l})
	}
	return files
}

// ApprovalFiles returns the possible approval files, the machine's first, with their errors.
func (g *Evaluator) ApprovalFiles() (files []GoverningFile) {
	for l, project := range levels(g.o.Projects) {
		f := GoverningFile{Path: g.o.ApprovalFile(l, project), Level: l}
		_, err := os.Lstat(f.Path)
		f.Exists = !errors.Is(err, fs.ErrNotExist)
		_, f.Err = g.o.readApprovals(l, f.Path)
		files = append(files, f)
	}
	return files
}

// ProtectedFiles returns the possible policy and approval files, which agents must not write.
func (g *Evaluator) ProtectedFiles() (files []string) {
	for l, project := range levels(g.o.Projects) {
		files = append(files, g.o.PolicyFile(l, project), g.o.ApprovalFile(l, project))
	}
	return slices.DeleteFunc(files, func(path string) bool { return path == "" })
}
