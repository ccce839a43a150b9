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

// The names of the files of policies and approvals: of the machine and of the user, in their directories, and of a
// project, beside its manifest.
const (
	PolicyName           = "policy.yaml"
	ProjectPolicyName    = "skillpm-policy.yaml"
	ApprovalsName        = "approvals.yaml"
	ProjectApprovalsName = "skillpm-approvals.yaml"
)

// Files say where policies are, and who may have written the machine's.
type Files struct {
	Paths scope.Paths
	OS    string // as runtime.GOOS
	Admin int    // the user id of the machine's administrator
}

// PolicyFile returns where the policy of a level is; "" for a level that has no directory here, and for a project if
// there is none.
func (f Files) PolicyFile(l policy.Level, project string) string {
	return f.file(l, project, PolicyName, ProjectPolicyName)
}

// ApprovalFile returns where the approvals of a level are, as [Files.PolicyFile] does.
func (f Files) ApprovalFile(l policy.Level, project string) string {
	return f.file(l, project, ApprovalsName, ProjectApprovalsName)
}

// file returns a file in the directory of a level. Without a directory there is none: what lies in the working
// directory is nobody's.
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

// Policies returns the policies in effect: those of the files that exist. One that can't be read, is not valid, or is
// the machine's and could have been written by others than its administrator, denies everything.
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
	p.Digest = "sha256:" + textx.SHA256(data)
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

// maxPolicyFile is the size in bytes of a policy that is read at most.
const maxPolicyFile = 4 << 20

// readOptional returns what is in a regular file, nil where there is none.
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

// GoverningFile is where a file of policies or approvals is, or would be.
type GoverningFile struct {
	Path   string
	Level  policy.Level
	Exists bool
	Err    error // why it does not count, nil if it does
}

// PolicyFiles returns where policies are, or would be, the machine's first.
func (g *Evaluator) PolicyFiles() (files []GoverningFile) {
	for l, project := range levels(g.o.Projects) {
		files = append(files, GoverningFile{Path: g.o.PolicyFile(l, project), Level: l})
	}
	return files
}

// ApprovalFiles returns where approvals are, or would be, the machine's first, and what is wrong with them.
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

// ProtectedFiles returns the files that policies and approvals are in, or would be: agents may not write them.
func (g *Evaluator) ProtectedFiles() (files []string) {
	for l, project := range levels(g.o.Projects) {
		files = append(files, g.o.PolicyFile(l, project), g.o.ApprovalFile(l, project))
	}
	return slices.DeleteFunc(files, func(path string) bool { return path == "" })
}
