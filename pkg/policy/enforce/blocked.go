package enforce

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// BlockedName is the name of the list of blocked content in the directory of advisories.
const BlockedName = "blocked.txt"

// AdvisoryDir returns the directory of the user's advisories, "" for none.
func (f Files) AdvisoryDir() string {
	if f.Paths.State == "" {
		return ""
	}
	return filepath.Join(f.Paths.State, "advisories")
}

// AdvisoryDir returns the directory of the user's advisories, "" for none.
func (g *Evaluator) AdvisoryDir() string { return g.o.AdvisoryDir() }

// checkBlocked returns why a skill must not be used, because an advisory states that it, or a copy of it, is malicious.
// Without advisories it costs one call to open a file. files is the skill's directory, nil if it is not on disk.
func (o *Options) checkBlocked(ctx context.Context, s Skill, files fs.FS) error {
	dir := o.AdvisoryDir()
	if dir == "" {
		return nil
	}
	list, file, err := advisory.OpenBlocked(filepath.Join(dir, BlockedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	found, err := list.Find(s.Pack, s.Version, func() ([]string, error) {
		if files == nil {
			return nil, nil
		}
		j := &evaluation{ctx: ctx, skill: s, files: files}
		var err error
		if j.tree, err = bundle.Sum(files, "."); err != nil {
			return nil, err
		}
		trees := []string{j.tree.Digest()}
		if original := j.original(j.tree); original != "" {
			trees = append(trees, original)
		}
		return trees, nil
	})
	if err != nil || found == nil {
		return err
	}
	fix := "delete the skill; show the advisory with: skillpm audit"
	if s.Pack != "" {
		fix = "remove the pack with: skillpm remove " + s.Pack + "; show the advisory with: skillpm audit"
	}
	return &advisory.BlockedError{Subject: s.subject(), Advisory: found, Fix: fix}
}
