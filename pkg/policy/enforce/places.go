package enforce

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/policy"
)

// FilePlace is where a file that governs is, or would be.
type FilePlace struct {
	Path   string
	Level  policy.Level
	Exists bool
	Err    error // why it does not count, nil where it does
}

// Places returns where policies are, or would be, the machine's first.
func (g *Guard) Places() []FilePlace {
	return g.places(func(l policy.Level, project string) FilePlace {
		return FilePlace{Path: g.o.PolicyFile(l, project), Level: l}
	})
}

// ApprovalPlaces returns where approvals are, or would be, the machine's first, and what is wrong with them.
func (g *Guard) ApprovalPlaces() []FilePlace {
	return g.places(func(l policy.Level, project string) FilePlace {
		p := FilePlace{Path: g.o.ApprovalFile(l, project), Level: l}
		_, err := os.Lstat(p.Path)
		p.Exists = !errors.Is(err, fs.ErrNotExist)
		_, p.Err = g.o.readApprovals(l, p.Path)
		return p
	})
}

func (g *Guard) places(of func(policy.Level, string) FilePlace) []FilePlace {
	list := []FilePlace{of(policy.MachineLevel, ""), of(policy.UserLevel, "")}
	for _, dir := range g.o.Projects {
		if dir != "" {
			list = append(list, of(policy.ProjectLevel, filepath.Clean(dir)))
		}
	}
	return list
}

// Digest returns a digest of the policies in force, for records; "" for none.
func (g *Guard) Digest() string { return Digest(g.Policies()) }
