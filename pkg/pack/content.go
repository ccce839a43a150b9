package pack

import (
	"bytes"
	"cmp"
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

// IgnoreName is the name of the file that lists the files to leave out of a pack.
const IgnoreName = ".skillpmignore"

// Content is the pack in a directory.
type Content struct {
	Manifest     *Manifest // by [ParsePack]; nil if there is no skillpm.yaml
	ID           ID
	Version      string
	Description  string
	License      string
	Skills       []SkillDir // sorted by name
	Dependencies []Dependency
	Tags         []string // words to find the pack by
	Skipped      []string // sentences: which files were left out or not understood, and why

	Ignore *bundle.IgnoreFile // the pack's .skillpmignore; nil if there is none
}

// SkillDir is a skill of a pack with its directory.
type SkillDir struct {
	Name        string // legal
	Dir         string // slash-separated, relative to the pack; "." for its root
	Description string

	problem error // why it cannot be part of a pack, as far as its SKILL.md shows
}

// Describe reads the pack at the root of fsys: its skillpm.yaml and its SKILL.md files. It reads nothing else, so that
// a file system may fetch lazily.
//
// Without a name or version in a skillpm.yaml, the pack has those of [Ref.DefaultID] and [DefaultVersion]. The name of
// a skill is the one that it declares if that is legal, otherwise that of its directory, made legal. If two skills have
// the same name, that is an error in a pack with a skillpm.yaml; in others the one nearest to the root counts, then the
// first by path. A directory with a skillpm.yaml below a named pack is another pack. More than a million entries, 64
// nested directories, or 10,000 skills are an error. Errors have code [diag.Invalid], or [diag.NotFound] if there is no
// skill.
func Describe(fsys fs.FS, ref Ref) (*Content, error) {
	c := &Content{}
	if err := c.readManifest(fsys); err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", sourceText(ref), err).WithHint("%s", diag.HintOf(err))
	}
	if ref.Kind == KindPath {
		if err := c.checkNoWorkspace(fsys, sourceText(ref)); err != nil {
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
	f := finder{fsys: newLimitedFS(fsys), ignore: c.Ignore, named: c.Manifest != nil && !c.Manifest.Name.IsZero()}
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
		return nil, diag.Errorf(diag.NotFound, "no skills found in %s: no directory contains a %s", sourceText(ref),
			skill.File).WithHint("use the directory that contains the skills, such as URL//skills for a repository")
	}
	return c, nil
}

// sourceText returns the source of a pack for messages.
func sourceText(ref Ref) string {
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

// identify sets the name, version and description from the manifest or else from the source.
func (c *Content) identify(ref Ref) (err error) {
	if m := c.Manifest; m != nil {
		c.ID, c.Version, c.Description, c.License = m.Name, m.Version, m.Description, m.License
		c.Dependencies, c.Tags = m.Dependencies, m.Tags
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
	return bundle.ParseIgnore(data), nil
}

// readSkills reads the SKILL.md of each directory, and resolves duplicate names.
func (c *Content) readSkills(fsys fs.FS, dirs []string) error {
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(depth(a)-depth(b), strings.Compare(a, b)) })
	dirOf := make(map[string]string, len(dirs)) // by the name of the skill
	for _, dir := range dirs {
		s, err := c.readSkill(fsys, dir)
		if err != nil {
			return err
		}
		first, duplicate := dirOf[s.Name]
		if duplicate && c.Manifest != nil {
			return diag.Errorf(diag.Invalid, "two skills are named %s: %s and %s", s.Name, first, dir).
				WithHint("rename one of the skills, or list the required directories under skills in %s", ManifestName)
		}
		if duplicate && len(c.Skipped) < maxSkipped {
			c.Skipped = append(c.Skipped, "skipped "+dir+": "+first+" also has the name "+s.Name)
		}
		if duplicate {
			continue
		}
		dirOf[s.Name] = dir
		c.Skills = append(c.Skills, s)
	}
	slices.SortFunc(c.Skills, func(a, b SkillDir) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// depth returns the number of levels of a directory below the root of the pack.
func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return strings.Count(dir, "/") + 1
}

func (c *Content) readSkill(fsys fs.FS, dir string) (SkillDir, error) {
	base := path.Base(dir)
	if dir == "." {
		base = c.ID.Name
	}
	doc, problems, err := skill.Load(fsys, dir)
	if diag.CodeOf(err) == diag.Invalid {
		return SkillDir{Name: skill.Slug(base), Dir: dir, problem: &fileError{err}}, nil
	}
	if err != nil {
		return SkillDir{}, err
	}
	name := doc.Name()
	switch {
	case skill.LegalName(name):
	case skill.LegalName(base):
		name = base
	default:
		name = skill.Slug(base)
	}
	s := SkillDir{Name: name, Dir: dir, Description: doc.Description()}
	if slices.ContainsFunc(problems, func(p skill.Problem) bool { return p.Kind == skill.NoFrontmatter }) {
		s.problem = &fileError{errNoFrontmatter}
	}
	return s, nil
}

// Pack returns the content as a pack. The digests of its skills are unknown before they are fetched.
func (c *Content) Pack(ref Ref) *Pack {
	p := &Pack{
		ID: c.ID, Version: c.Version, Description: c.Description, License: c.License, Ref: ref,
		Unnamed:      c.Manifest == nil || c.Manifest.Name.IsZero(),
		Skills:       make([]Skill, len(c.Skills)),
		Dependencies: slices.Clone(c.Dependencies),
		Tags:         slices.Clone(c.Tags),
		Warnings:     slices.Clone(c.Skipped),
	}
	if c.Manifest != nil {
		p.Requires = c.Manifest.Requires
	}
	for i, s := range c.Skills {
		p.Skills[i] = Skill{Name: s.Name, Description: s.Description}
	}
	slices.SortStableFunc(p.Dependencies, func(a, b Dependency) int { return a.ID.Compare(b.ID) })
	return p
}

// Select returns the skills with these names, or all skills if there are no names. The error for an unknown name has
// code [diag.NotFound].
func (c *Content) Select(names []string) ([]SkillDir, error) {
	if len(names) == 0 {
		return c.Skills, nil
	}
	var selected []SkillDir
	for _, name := range names {
		i, ok := slices.BinarySearchFunc(c.Skills, name,
			func(s SkillDir, n string) int { return strings.Compare(s.Name, n) })
		if !ok {
			return nil, diag.Errorf(diag.NotFound, "%s does not contain a skill %q", c.ID, name).
				WithHint("available skills: %s", c.skillList())
		}
		selected = append(selected, c.Skills[i])
	}
	slices.SortFunc(selected, func(a, b SkillDir) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(selected, func(a, b SkillDir) bool { return a.Name == b.Name }), nil
}

// skillList returns the names of the first skills.
func (c *Content) skillList() string {
	const limit = 20
	var names []string
	for _, s := range c.Skills[:min(len(c.Skills), limit)] {
		names = append(names, s.Name)
	}
	text := strings.Join(names, ", ")
	if len(c.Skills) > limit {
		text += ", …"
	}
	return text
}

// Stream streams the files of the named skills, or of all skills if there are no names, from the file system of
// [Describe]. It leaves out what [bundle.Ignored] and .skillpmignore match. Files that match the manifest's executable
// patterns are executable.
//
// If some skills cannot be part of a pack, Stream streams all others and returns a [BadSkillsError]. Then the sink may
// have some files of the bad skills.
func (c *Content) Stream(ctx context.Context, fsys fs.FS, names []string, sink bundle.Sink) error {
	skills, err := c.Select(names)
	if err != nil {
		return err
	}
	tree := newLimitedFS(fsys)
	bad := &BadSkillsError{Pack: c.ID}
	for _, s := range skills {
		err := c.streamSkill(ctx, tree, s, sink)
		if isBadSkill(err) {
			bad.Skills = append(bad.Skills, BadSkill{Name: s.Name, Err: err})
		} else if err != nil {
			return fmt.Errorf("cannot read skill %s of %s: %w", s.Name, c.ID, err)
		}
	}
	if len(bad.Skills) > 0 {
		return bad
	}
	return nil
}

// streamSkill streams the files of one skill.
func (c *Content) streamSkill(ctx context.Context, fsys fs.FS, s SkillDir, sink bundle.Sink) error {
	err := bundle.Walk(fsys, s.Dir, c.skip(s.Dir), func(f bundle.File) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		executable := f.Executable() || c.Manifest != nil && c.Manifest.IsExecutable(s.Dir, f.Path)
		return streamFile(fsys, s.Name, f, executable, sink)
	})
	return cmp.Or(err, s.problem)
}

// skip returns a function that reports whether .skillpmignore matches a path inside a skill.
func (c *Content) skip(dir string) func(p string, isDir bool) bool {
	if c.Ignore == nil {
		return nil
	}
	return func(p string, isDir bool) bool { return c.Ignore.Match(path.Join(dir, p), isDir) }
}

// lfsPointer is the beginning of a file whose content Git LFS stores elsewhere.
const lfsPointer = "version https://git-lfs.github.com/spec/"

// maxLFSPointer is the greatest size of such a file, by the specification of Git LFS.
const maxLFSPointer = 1024

func streamFile(fsys fs.FS, skill string, f bundle.File, executable bool, sink bundle.Sink) error {
	file, err := fsys.Open(f.Name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // a read-only file
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
				Rule:  "is a Git LFS pointer: the repository does not contain the file itself",
			}
		}
		r = bytes.NewReader(data)
	}
	if err := sink.WriteFile(skill, f.Path, executable, info.Size(), r); err != nil {
		return &sinkError{err}
	}
	return nil
}

// readRegular reads a file of a pack. It doesn't open links and other special files, because opening a pipe would
// block, nor files that are too large.
func readRegular(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Invalid, "not a regular file")
	}
	return safefile.ReadIn(fsys, name, maxFile)
}
