package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// IgnoreName is the name of the file that keeps files of a pack's directory out of the pack.
const IgnoreName = ".skillpmignore"

// Content is what a directory holds as a pack.
type Content struct {
	Manifest     *Manifest // by [ParsePack]; nil when there is no skillpm.yaml
	ID           ID
	Version      string
	Description  string
	License      string
	Skills       []SkillDir // sorted by name
	Dependencies []Dependency
	Tags         []string // words that the pack is found by
	Skipped      []string // what was left out or not understood, and why: a sentence each

	Ignore *bundle.IgnoreFile // the pack's .skillpmignore; nil when there is none
}

// SkillDir is one skill of a pack and the directory it is in.
type SkillDir struct {
	Name        string // legal
	Dir         string // slash-separated, relative to the pack; "." for its root
	Description string
}

// Describe reads what the pack at the root of fsys is: from its skillpm.yaml, and from its SKILL.md files. Nothing else
// is read, so that a file system may fetch lazily.
//
// A place without a skillpm.yaml, or with one that has no name or version, has the identity and version that
// [Ref.DefaultID] and [DefaultVersion] give it. A skill's name is the one it declares if that is legal,
// else its directory's, else a legal one made from that. Of two skills of one name in a place without a skillpm.yaml
// the one nearest to the root counts, and then the first by path; with a skillpm.yaml they are an error. A directory
// below a named pack that has a skillpm.yaml of its own is another pack. Places of more than a million entries, more
// than 64 directories in each other, or more than 10,000 skills are refused. Errors have code [diag.Invalid], or
// [diag.NotFound] when there is no skill.
func Describe(fsys fs.FS, ref Ref) (*Content, error) {
	c := &Content{}
	if err := c.readManifest(fsys); err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", place(ref), err).WithHint("%s", diag.HintOf(err))
	}
	if ref.Kind == KindPath {
		if err := c.checkNoWorkspace(fsys, place(ref)); err != nil {
			return nil, err
		}
	}
	if err := c.identify(ref); err != nil {
		return nil, err
	}
	var err error
	if c.Ignore, err = readIgnore(fsys); err != nil {
		return nil, err
	}
	f := finder{fsys: newLimitedFS(fsys), ignore: c.Ignore, bounded: c.Manifest != nil && !c.Manifest.Name.IsZero()}
	var dirs []string
	if c.Manifest != nil && len(c.Manifest.Skills) > 0 {
		dirs, err = f.match(c.Manifest.Skills)
	} else {
		dirs, err = f.walk(".")
	}
	if err != nil {
		return nil, err
	}
	c.Skipped = append(c.Skipped, f.skipped...)
	if err := c.readSkills(fsys, dirs); err != nil {
		return nil, err
	}
	if len(c.Skills) == 0 && len(c.Dependencies) == 0 {
		return nil, diag.Errorf(diag.NotFound, "%s has no skill: no directory in it has a %s", place(ref), skill.File).
			WithHint("name the directory of the skills, as in URL//skills for a repository")
	}
	return c, nil
}

// place says where a pack is, without a pinned commit and without anything secret.
func place(ref Ref) string {
	if s := ref.String(); s != "" {
		return s
	}
	return "the directory"
}

func (c *Content) readManifest(fsys fs.FS) error {
	data, err := readRegular(fsys, ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return diag.Errorf(diag.CodeOf(err), "%s: %w", ManifestName, err)
	}
	c.Manifest, c.Skipped, err = ParsePack(ManifestName, data)
	return err
}

// identify takes name, version and the rest from the manifest, and what it lacks from the place.
func (c *Content) identify(ref Ref) (err error) {
	if m := c.Manifest; m != nil {
		c.ID, c.Version, c.Description, c.License, c.Dependencies = m.Name, m.Version, m.Description, m.License,
			m.Dependencies
		c.Tags = m.Tags
	}
	if c.ID.IsZero() {
		if c.ID, err = ref.DefaultID(); err != nil {
			return err
		}
	}
	if c.Version == "" {
		c.Version = DefaultVersion(ref.Rev, ref.Digest)
	}
	return nil
}

func readIgnore(fsys fs.FS) (*bundle.IgnoreFile, error) {
	data, err := readRegular(fsys, IgnoreName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", IgnoreName, err)
	}
	ignore, err := bundle.ParseIgnore(data)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %w", IgnoreName, err)
	}
	return ignore, nil
}

// readSkills reads the SKILL.md of each directory and settles the names.
func (c *Content) readSkills(fsys fs.FS, dirs []string) error {
	slices.SortFunc(dirs, func(a, b string) int {
		if d := depth(a) - depth(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	taken := make(map[string]string, len(dirs))
	for _, dir := range dirs {
		s, err := c.readSkill(fsys, dir)
		if err != nil {
			return err
		}
		first, clash := taken[s.Name]
		if clash && c.Manifest != nil {
			return diag.Errorf(diag.Invalid, "two skills are named %s: %s and %s", s.Name, first, dir).
				WithHint("rename one of them, or list the directories wanted under skills in %s", ManifestName)
		}
		if clash && len(c.Skipped) < maxSkipped {
			c.Skipped = append(c.Skipped, dir+" is left out: "+first+" is named "+s.Name+" too")
		}
		if clash {
			continue
		}
		taken[s.Name] = dir
		c.Skills = append(c.Skills, s)
	}
	slices.SortFunc(c.Skills, func(a, b SkillDir) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// depth counts a directory's levels below the pack's root.
func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return strings.Count(dir, "/") + 1
}

func (c *Content) readSkill(fsys fs.FS, dir string) (SkillDir, error) {
	doc, _, err := skill.Load(fsys, dir)
	if err != nil {
		return SkillDir{}, err
	}
	base := path.Base(dir)
	if dir == "." {
		base = c.ID.Name
	}
	name := doc.Name()
	switch {
	case skill.LegalName(name):
	case skill.LegalName(base):
		name = base
	default:
		name = skill.Slug(base)
	}
	return SkillDir{Name: name, Dir: dir, Description: doc.Description()}, nil
}

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
		i, ok := slices.BinarySearchFunc(c.Skills, name,
			func(s SkillDir, n string) int { return strings.Compare(s.Name, n) })
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

// Stream streams the files of the named skills, or of all skills if there are no names, from the file system that the
// content was read from. What [bundle.Ignored] and the pack's .skillpmignore say is left out, and what its manifest
// says is executable.
func (c *Content) Stream(ctx context.Context, fsys fs.FS, names []string, sink bundle.Sink) error {
	skills, err := c.Select(names)
	if err != nil {
		return err
	}
	tree := newLimitedFS(fsys)
	for _, s := range skills {
		err := bundle.Walk(tree, s.Dir, c.skip(s.Dir), func(f bundle.File) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return streamFile(fsys, s.Name, f, f.Executable() || c.Manifest != nil &&
				c.Manifest.IsExecutable(s.Dir, f.Path), sink)
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

func streamFile(fsys fs.FS, skill string, f bundle.File, executable bool, sink bundle.Sink) error {
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
			return &bundle.EntryError{
				Entry: f.Path,
				Rule:  "is a Git LFS pointer: the file itself is not in the repository",
			}
		}
		r = bytes.NewReader(data)
	}
	return sink.WriteFile(skill, f.Path, executable, info.Size(), r)
}

// readRegular reads a file of a pack. What is no regular file, a link among them, or is too large is refused unopened:
// opening a pipe would wait for ever.
func readRegular(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Invalid, "it is not a regular file")
	}
	return safefile.ReadIn(fsys, name, maxFile)
}
