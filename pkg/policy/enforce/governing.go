package enforce

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/policy"
)

// GoverningFile is where a file that governs is, or would be.
type GoverningFile struct {
	Path   string
	Level  policy.Level
	Exists bool
	Err    error // why it does not count, nil where it does
}

// PolicyFiles returns where policies are, or would be, the machine's first.
func (g *Evaluator) PolicyFiles() []GoverningFile {
	return g.governingFiles(func(l policy.Level, project string) GoverningFile {
		return GoverningFile{Path: g.o.PolicyFile(l, project), Level: l}
	})
}

// ApprovalFiles returns where approvals are, or would be, the machine's first, and what is wrong with them.
func (g *Evaluator) ApprovalFiles() []GoverningFile {
	return g.governingFiles(func(l policy.Level, project string) GoverningFile {
		p := GoverningFile{Path: g.o.ApprovalFile(l, project), Level: l}
		_, err := os.Lstat(p.Path)
		p.Exists = !errors.Is(err, fs.ErrNotExist)
		_, p.Err = g.o.readApprovals(l, p.Path)
		return p
	})
}

func (g *Evaluator) governingFiles(of func(policy.Level, string) GoverningFile) []GoverningFile {
	list := []GoverningFile{of(policy.MachineLevel, ""), of(policy.UserLevel, "")}
	for _, dir := range g.o.Projects {
		if dir != "" {
			list = append(list, of(policy.ProjectLevel, filepath.Clean(dir)))
		}
	}
	return list
}

// Digest returns a digest of the policies in force, for records; "" for none.
func (g *Evaluator) Digest() string { return Digest(g.Policies()) }
