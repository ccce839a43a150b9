package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// maxSearchedDirs limits how many directories of a project are searched for skills.
const maxSearchedDirs = 20_000

// AmbiguousError reports that an agent may mean several skills by a name.
type AmbiguousError struct {
	Name   string
	Skills []string // their directories
}

// Error lists the directories.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("skillpm does not know which skill the agent loads as %q: %s", e.Name,
		strings.Join(e.Skills, " or "))
}

// Code is Denied, because the restrictions of the skill are unknown.
func (e *AmbiguousError) Code() diag.Code { return diag.Denied }

// Hint suggests another name.
func (e *AmbiguousError) Hint() string { return "ask the user to give one of the skills another name" }

// ModelHint is the hint.
func (e *AmbiguousError) ModelHint() (string, bool) { return e.Hint(), true }

// candidate returns the skill that an agent loads by a name; nil if the catalog does not have it. The file in the first
// directory that the agent searches decides. Agents also know a skill by its frontmatter, some in any letter case.
func (s *Session) candidate(ctx context.Context, name string, o Observed) (*catalog.Skill, error) {
	switch {
	case o.File:
		return s.skillAt(ctx, name)
	case o.Served:
		k, err := s.lookup(ctx, name)
		if _, unknown := errors.AsType[*catalog.UnknownError](err); unknown {
			return nil, nil
		}
		return k, err
	}
	c, err := s.env.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.native(c, name)
	if err == nil && len(found) == 0 {
		found, err = s.candidates(ctx, name, o)
	}
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, nil
	}
	return found[0], checkSame(name, found)
}

// checkSame returns an [AmbiguousError] unless all of these skills have the same SKILL.md.
func checkSame(name string, found []*catalog.Skill) error {
	var dirs []string
	texts := map[string]bool{}
	for _, k := range found {
		digest, err := digestOf(k.Dir)
		if err != nil {
			return diag.Errorf(diag.NotFound, "the directory of skill %q no longer exists: %w", k.Name, err)
		}
		dirs, texts[digest] = append(dirs, k.Dir), true
	}
	if len(texts) > 1 {
		slices.Sort(dirs)
		return &AmbiguousError{name, dirs}
	}
	return nil
}

// native returns the skills that the agent may load from its own directories by a name: those of the first directory
// that has one, or all if the agent searches in no certain order.
func (s *Session) native(c *catalog.Catalog, name string) (found []*catalog.Skill, err error) {
	entries, unknown := c.Native(name)
	for _, e := range entries {
		if !s.env.Profile.Unordered && len(found) > 0 && filepath.Dir(e.Dir) != filepath.Dir(entries[0].Dir) {
			return found, nil
		}
		if err := e.Refusal(); err != nil {
			return nil, err
		}
		if e.State == catalog.Available || e.State == catalog.Shadowed {
			found = append(found, e.Skill)
		}
	}
	for _, dir := range unknown { // written after the catalog
		k, err := s.inDirectory(dir)
		if err != nil {
			return nil, err
		}
		found = append(found, k)
	}
	return found, nil
}

// candidates returns the skills that an agent may mean by a name, none if the catalog does not have it.
func (s *Session) candidates(ctx context.Context, name string, o Observed) ([]*catalog.Skill, error) {
	k, err := s.lookup(ctx, name)
	if unknown, ok := errors.AsType[*catalog.UnknownError](err); err != nil &&
		(!ok || unknown.Denied || unknown.Invalid || unknown.Ambiguous) {
		return nil, err
	}
	c, err := s.env.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	var all []*catalog.Skill
	if k != nil {
		all = append(all, k)
	}
	others, err := sameNamed(c, k, func(other string) bool { return other == name })
	if all = append(all, others...); len(all) == 0 && err == nil {
		all, err = sameNamed(c, nil, func(other string) bool { return strings.EqualFold(other, name) })
	}
	if len(all) == 0 && err == nil && o.Deep {
		all, err = s.findNested(name)
	}
	return all, err
}

// sameNamed returns the skills whose directory or frontmatter has a matching name, except k and those that k shadows.
// Of packs, skills that have the name of k also count.
func sameNamed(c *catalog.Catalog, k *catalog.Skill, is func(string) bool) (all []*catalog.Skill, err error) {
	for _, e := range c.All() {
		switch {
		case e.Skill == nil, k != nil && e.Dir == k.Dir, k != nil && e.Pack != "" && e.Name != k.Name,
			k != nil && e.Pack == "" && filepath.Base(e.Dir) == filepath.Base(k.Dir):
			continue
		case !is(filepath.Base(e.Dir)) && !is(e.Declared) && !is(e.Name):
			continue
		case e.Refusal() == nil && (e.State == catalog.Available || e.State == catalog.Shadowed):
			all = append(all, e.Skill)
			continue
		}
		if err := lookupDenial(c, e); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// lookupDenial returns why a skill that was found is denied or invalid; nil if it is neither.
func lookupDenial(c *catalog.Catalog, e catalog.Entry) error {
	_, err := c.Lookup(e.Name)
	if unknown, ok := errors.AsType[*catalog.UnknownError](err); ok && (unknown.Denied || unknown.Invalid) {
		return err
	}
	return nil
}

// skillAt returns the skill whose SKILL.md is at path. It includes shadowed skills, because the agent decides which
// file it reads.
func (s *Session) skillAt(ctx context.Context, path string) (*catalog.Skill, error) {
	if filepath.Base(path) != skill.File {
		return nil, nil
	}
	dir := filepath.Dir(path)
	if _, err := pathx.ResolveExisting(dir); err != nil {
		return nil, nil // a file that does not exist is not read
	}
	c, err := s.env.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	if e, ok := c.At(dir); ok {
		if err := e.Refusal(); err != nil { // another skill may have the name
			return nil, err
		}
		if e.State == catalog.Available || e.State == catalog.Shadowed {
			return e.Skill, nil
		}
	}
	for _, layer := range s.projectLayers() {
		inside := string(filepath.Separator) + layer + string(filepath.Separator)
		within, ok := dir, strings.HasPrefix(layer, ".") // an agent's own directory may be in any project
		if !ok {
			within, ok = pathx.Rel(s.project(), dir)
		}
		if ok && strings.Contains(string(filepath.Separator)+within, inside) {
			return s.inDirectory(dir)
		}
	}
	return nil, nil
}

// projectLayers returns the project's skill directories by the profile, relative to its root.
func (s *Session) projectLayers() (dirs []string) {
	for _, layer := range s.env.Profile.Layers {
		for _, dir := range layer.On(runtime.GOOS) {
			if below, ok := strings.CutPrefix(dir, "./"); ok && below != "" {
				dirs = append(dirs, filepath.FromSlash(below))
			}
		}
	}
	return dirs
}

// inDirectory returns the skill of a directory that the catalog does not search.
func (s *Session) inDirectory(dir string) (*catalog.Skill, error) {
	k, err := catalog.ParseFile(filepath.Join(dir, skill.File), s.env.Profile)
	if err != nil {
		return nil, err
	}
	k.Layer, k.Scope = "project", catalog.ScopeProject
	return k, nil
}

// findNested returns the skills with a name in directories below the project, and in those above it in the same
// repository. Agents load these, too, while they work there. An agent may prefix the directory, as in apps/web:deploy.
func (s *Session) findNested(name string) (all []*catalog.Skill, err error) {
	name = name[strings.LastIndexByte(name, ':')+1:]
	project, layers := s.project(), s.projectLayers()
	if project == "" || name == "" || name != filepath.Base(name) || len(layers) == 0 {
		return nil, nil
	}
	visit := func(dir string) error {
		for _, layer := range layers {
			found, err := s.skillsNamed(filepath.Join(dir, layer), name)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		return nil
	}
	for dir := project; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || filepath.Dir(dir) == dir ||
			dir == s.env.Paths.Home {
			break
		}
		if err := visit(filepath.Dir(dir)); err != nil {
			return nil, err
		}
	}
	budget := maxSearchedDirs
	err = filepath.WalkDir(project, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil // an unreadable directory has no skills
		case budget == 0:
			return fs.SkipAll
		case path == project:
			return nil
		case d.Name() == "node_modules" || strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		}
		budget--
		return visit(path)
	})
	return all, err
}

// skillsNamed returns the skills below dir whose directory or frontmatter has this name.
func (s *Session) skillsNamed(dir, name string) (all []*catalog.Skill, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil // most directories have no skills
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(path, skill.File)); err != nil {
			continue
		}
		k, err := s.inDirectory(path)
		switch {
		case err != nil && e.Name() == name:
			return nil, err
		case err == nil && slices.Contains([]string{e.Name(), k.Declared}, name):
			all = append(all, k)
		}
	}
	return all, nil
}

// SkillDirs returns the directories around a file that have a SKILL.md, resolved. An unreadable file has none.
func SkillDirs(file string) (dirs []string) {
	real, err := pathx.ResolveExisting(file)
	if err != nil {
		return nil
	}
	for dir := real; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, skill.File)); err == nil && !info.IsDir() {
			dirs = append(dirs, dir)
		}
		if dir == filepath.Dir(dir) {
			return dirs
		}
	}
}

// CheckRead returns why a file must not be read: it belongs to a skill that a policy denies, or whose files are not
// those that a policy allows. The dirs are those of [SkillDirs]. Only the directory decides: a skill of the same name
// in another pack may be allowed.
func (s *Session) CheckRead(ctx context.Context, dirs []string) error {
	c, err := s.env.Catalog(ctx)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		e, ok := c.At(dir)
		switch {
		case !ok:
			continue
		case e.DeniedByPolicy():
			return e.Refusal()
		case e.Skill != nil && s.env.Guard != nil:
			if err := s.env.Guard.CheckFiles(ctx, e.Skill); err != nil {
				return err
			}
		}
	}
	return nil
}

// Has reports whether path is the SKILL.md of a skill in the catalog or in the project's directories.
func (s *Session) Has(ctx context.Context, path string) bool {
	k, err := s.skillAt(ctx, path)
	return k != nil && err == nil
}
