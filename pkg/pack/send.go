package pack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Pack returns the content as a pack at a place. The digests of its skills are not known before they are fetched.
func (c *Content) Pack(ref Ref) *Pack {
	p := &Pack{
		ID: c.ID, Version: c.Version, Description: c.Description, License: c.License, Ref: ref,
		Skills:       make([]Skill, len(c.Skills)),
		Dependencies: slices.Clone(c.Dependencies),
		Tags:         slices.Clone(c.Tags),
		Warnings:     slices.Clone(c.Skipped),
	}
	for i, s := range c.Skills {
		p.Skills[i] = Skill{Name: s.Name, Description: s.Description}
	}
	slices.SortStableFunc(p.Dependencies, func(a, b Dependency) int { return a.ID.Compare(b.ID) })
	return p
}

// Select returns the skills of these names, or all skills if there are no names. A name that no skill has is an error
// of code [diag.NotFound] that lists those that exist.
func (c *Content) Select(names []string) ([]SkillDir, error) {
	if len(names) == 0 {
		return c.Skills, nil
	}
	var selected []SkillDir
	for _, name := range names {
		i, ok := slices.BinarySearchFunc(c.Skills, name, func(s SkillDir, n string) int { return strings.Compare(s.Name, n) })
		if !ok {
			return nil, diag.Errorf(diag.NotFound, "%s has no skill %q", c.ID, name).WithHint("it has %s", c.list())
		}
		selected = append(selected, c.Skills[i])
	}
	slices.SortFunc(selected, func(a, b SkillDir) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(selected, func(a, b SkillDir) bool { return a.Name == b.Name }), nil
}

// list names the skills, but not hundreds of them.
func (c *Content) list() string {
	const most = 20
	var names []string
	for _, s := range c.Skills[:min(len(c.Skills), most)] {
		names = append(names, s.Name)
	}
	text := strings.Join(names, ", ")
	if len(c.Skills) > most {
		text += ", …"
	}
	return text
}

// Send streams the files of the named skills, or of all skills if there are no names, from the file system that the
// content was read from. What [bundle.Ignored] and the pack's .skillpmignore say is left out, and what its manifest says
// is executable.
func (c *Content) Send(ctx context.Context, fsys fs.FS, names []string, sink bundle.Sink) error {
	skills, err := c.Select(names)
	if err != nil {
		return err
	}
	tree := newBounded(fsys)
	for _, s := range skills {
		err := bundle.Walk(tree, s.Dir, c.skip(s.Dir), func(f bundle.File) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return sendFile(fsys, s.Name, f, f.Executable() || c.Manifest != nil && c.Manifest.Runs(s.Dir, f.Path), sink)
		})
		if err != nil {
			return fmt.Errorf("skill %s of %s: %w", s.Name, c.ID, err)
		}
	}
	return nil
}

// skip returns what the pack's ignore file says about paths inside a skill.
func (c *Content) skip(dir string) func(p string, isDir bool) bool {
	if c.Ignore == nil {
		return nil
	}
	return func(p string, isDir bool) bool { return c.Ignore.Match(path.Join(dir, p), isDir) }
}

// lfsPointer is how a file starts that Git LFS keeps elsewhere.
const lfsPointer = "version https://git-lfs.github.com/spec/"

// maxLFSPointer is the most bytes that such a file has, by the specification of Git LFS.
const maxLFSPointer = 1024

func sendFile(fsys fs.FS, skill string, f bundle.File, executable bool, sink bundle.Sink) error {
	file, err := fsys.Open(f.Name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var r io.Reader = file
	if info.Size() < maxLFSPointer {
		data, err := io.ReadAll(io.LimitReader(file, maxLFSPointer))
		if err != nil {
			return err
		}
		if bytes.HasPrefix(data, []byte(lfsPointer)) {
			return &bundle.EntryError{Entry: f.Path, Rule: "is a Git LFS pointer: the file itself is not in the repository"}
		}
		r = bytes.NewReader(data)
	}
	return sink.WriteFile(skill, f.Path, executable, info.Size(), r)
}
