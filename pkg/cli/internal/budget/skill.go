package budget

import (
	"bytes"
	"io/fs"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Limits of the files of a skill whose tokens are counted.
const (
	maxFiles = 2000
	maxFile  = 1 << 20
	maxBytes = 32 << 20
)

// Activation is what activating a skill adds.
type Activation struct {
	Tokens int // of the instructions, which the model reads at once

	Files      int // text files besides SKILL.md, which it reads when it needs them
	FileTokens int
	Partial    bool // further files were not counted
}

// SkillCost returns the cost of activating a skill under a profile.
func SkillCost(p *profile.Profile, s *catalog.Skill) (Activation, error) {
	loaded, err := s.Load()
	if err != nil {
		return Activation{}, err
	}
	root, err := safefile.OpenRoot(s.Dir)
	if err != nil {
		return Activation{}, err
	}
	defer func() { _ = root.Close() }() // read only
	c := &counter{root: root}
	if err := fs.WalkDir(root, ".", c.visit); err != nil {
		return Activation{}, err
	}
	c.Tokens = tokens.Estimate(prompt.Text(p, prompt.Result{
		Kind: prompt.Activated, Name: s.Name, Dir: s.Dir, Description: s.Description, Body: loaded.Body,
		Source: loaded.Source, Files: c.listed,
	}))
	return c.Activation, nil
}

// counter counts the tokens of the files of a skill.
type counter struct {
	Activation
	root   *safefile.Root
	listed []prompt.File
	bytes  int
}

func (c *counter) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil && name == ".":
		return err
	case err != nil:
		c.Partial = true
		return nil
	case name == "." || name == skill.File:
		return nil
	case bundle.Ignored(name, d.IsDir()):
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case !d.Type().IsRegular():
		return nil
	case len(c.listed) == maxFiles || c.bytes > maxBytes:
		c.Partial = true
		return fs.SkipAll
	}
	c.listed = append(c.listed, prompt.File{Path: name})
	data, err := safefile.ReadIn(c.root, name, maxFile)
	if err != nil {
		c.Partial = true
		return nil //nolint:nilerr // the others still count
	}
	c.bytes += len(data)
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		c.Files++
		c.FileTokens += tokens.Estimate(data)
	}
	return nil
}
