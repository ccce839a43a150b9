package pack

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// finder finds the directories of a pack's skills. It doesn't enter ignored directories.
type finder struct {
	fsys    fs.FS
	ignore  *bundle.IgnoreFile
	named   bool // the pack has a name, so that other directories with a skillpm.yaml are other packs
	skipped []string
}

// list returns the names of the directories in dir that are not ignored, and whether dir is a skill.
func (f *finder) list(dir string) (subdirs []string, isSkill bool, err error) {
	entries, err := fs.ReadDir(f.fsys, dir)
	if err != nil {
		return nil, false, err
	}
	if skill.Vendored(dir, entries) {
		return nil, false, nil
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if !skill.SkipDir(e.Name()) && !bundle.Ignored(name, true) && !f.ignored(name, true) {
				subdirs = append(subdirs, e.Name())
			}
		case !strings.EqualFold(e.Name(), skill.File) || f.ignored(name, false):
		case e.Name() != skill.File:
			f.skip(name, "the file must be named "+skill.File)
		case !e.Type().IsRegular():
			f.skip(name, "not a regular file")
		default:
			isSkill = true
		}
	}
	return subdirs, isSkill, nil
}

// skip records that a file is left out.
func (f *finder) skip(name, reason string) {
	if len(f.skipped) < maxSkipped {
		f.skipped = append(f.skipped, "skipped "+name+": "+reason)
	}
}

func (f *finder) ignored(name string, dir bool) bool {
	return f.ignore != nil && f.ignore.Match(name, dir)
}

// walk returns dir if it is a skill, otherwise the skills below it.
func (f *finder) walk(dir string) ([]string, error) {
	if _, err := fs.Stat(f.fsys, path.Join(dir, ManifestName)); err == nil && f.named && dir != "." {
		return nil, nil
	}
	subdirs, isSkill, err := f.list(dir)
	if err != nil {
		return nil, err
	}
	if isSkill {
		return []string{dir}, nil
	}
	var found []string
	for _, name := range subdirs {
		skills, err := f.walk(path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		found = append(found, skills...)
		if err := checkFound(found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// match returns the skills whose directories match one of the patterns. A pattern without wildcards must name one.
func (f *finder) match(patterns []string) ([]string, error) {
	var found []string
	for _, pattern := range patterns {
		pattern = path.Clean(pattern)
		dirs, err := f.expand(".", segments(pattern))
		if err != nil {
			return nil, err
		}
		if len(dirs) == 0 && !strings.ContainsAny(pattern, "*?[") {
			return nil, diag.Errorf(diag.Invalid, "%s lists the directory %s, but the directory does not contain a %s",
				ManifestName, pattern, skill.File)
		}
		found = append(found, dirs...)
		if err := checkFound(found); err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return outermost(slices.Compact(found)), nil
}

// segments splits a pattern at its slashes. Several ** in a row are like one.
func segments(pattern string) []string {
	return slices.CompactFunc(strings.Split(pattern, "/"), func(a, b string) bool { return a == "**" && b == "**" })
}

// expand returns the skills below dir whose paths match the pattern's segments, of which "**" stands for any number.
func (f *finder) expand(dir string, segments []string) ([]string, error) {
	if len(segments) > 0 && segments[0] == "." {
		segments = segments[1:]
	}
	if len(segments) > 0 && !strings.ContainsAny(segments[0], "*?[") {
		return f.enter(path.Join(dir, segments[0]), segments[1:])
	}
	subdirs, isSkill, err := f.list(dir)
	if err != nil {
		return nil, err
	}
	if len(segments) == 0 {
		if isSkill {
			return []string{dir}, nil
		}
		return nil, nil
	}
	var found []string
	if segments[0] == "**" {
		if found, err = f.expand(dir, segments[1:]); err != nil {
			return nil, err
		}
	}
	for _, name := range subdirs {
		rest := segments[1:]
		if segments[0] == "**" {
			rest = segments
		} else if ok, err := path.Match(segments[0], name); err != nil || !ok {
			continue
		}
		dirs, err := f.expand(path.Join(dir, name), rest)
		if err != nil {
			return nil, err
		}
		found = append(found, dirs...)
		if err := checkFound(found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// enter expands the rest of a pattern in a directory that it names, if that exists and is not ignored.
func (f *finder) enter(dir string, rest []string) ([]string, error) {
	if f.ignored(dir, true) {
		return nil, nil
	}
	info, err := fs.Stat(f.fsys, dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return f.expand(dir, rest)
}

// outermost removes directories that are below another one in the list, because they belong to that skill.
func outermost(dirs []string) []string {
	listed := make(map[string]bool, len(dirs))
	for _, d := range dirs {
		listed[d] = true
	}
	return slices.DeleteFunc(dirs, func(d string) bool {
		for d != "." {
			if d = path.Dir(d); listed[d] {
				return true
			}
		}
		return false
	})
}

// MatchSkills returns, for each pattern of skills in a manifest, the matching directories that have a skill.
func MatchSkills(fsys fs.FS, patterns []string) ([][]string, error) {
	ignore, err := readIgnore(fsys)
	if err != nil {
		return nil, err
	}
	f := finder{fsys: newLimitedFS(fsys), ignore: ignore}
	found := make([][]string, len(patterns))
	for i, pattern := range patterns {
		if found[i], err = f.expand(".", segments(path.Clean(pattern))); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// The limits of a search for skills and of their files. A git tree of a few objects can have more paths than anybody
// can list. The largest repositories of source code have some hundred thousand entries.
const (
	maxEntries = 1_000_000 // directory entries, counted whenever they are listed
	maxDepth   = 64        // nested directories
	maxSkills  = 10_000    // skills, counted for each pattern that finds them
	maxSkipped = 1_000     // sentences in Content.Skipped
)

// limitedFS is a file system that enforces maxEntries and maxDepth.
type limitedFS struct {
	fs.FS
	entries *int // listed so far
}

func newLimitedFS(fsys fs.FS) fs.FS { return limitedFS{fsys, new(int)} }

// ReadDir lists a directory within the limits.
func (b limitedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if depth(name) > maxDepth {
		return nil, errTooLarge("the source has directories nested more than %d levels deep", maxDepth)
	}
	entries, err := fs.ReadDir(b.FS, name)
	if *b.entries += len(entries) + 1; *b.entries > maxEntries {
		return nil, errTooLarge("the source contains more than %d files and directories", maxEntries)
	}
	return entries, err
}

// Stat describes a file as the file system below does.
func (b limitedFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(b.FS, name) }

// Lstat describes a file or link as the file system below does.
func (b limitedFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(b.FS, name) }

// ReadLink reads a link as the file system below does.
func (b limitedFS) ReadLink(name string) (string, error) { return fs.ReadLink(b.FS, name) }

// checkFound enforces maxSkills.
func checkFound(dirs []string) error {
	if len(dirs) > maxSkills {
		return errTooLarge("the source contains more than %d directories with a %s", maxSkills, skill.File)
	}
	return nil
}

func errTooLarge(format string, args ...any) error {
	return diag.Errorf(diag.Invalid, format, args...).
		WithHint("use a smaller directory, such as URL//skills, or list the skills' directories under skills in %s",
			ManifestName)
}

// maxMembersInHint is the number of packs of a workspace that a hint names.
const maxMembersInHint = 5

// checkNoWorkspace rejects a directory that is the root of a workspace and not a pack.
func (c *Content) checkNoWorkspace(fsys fs.FS, dir string) error {
	if c.Manifest == nil || len(c.Manifest.Workspace) == 0 || !c.Manifest.Name.IsZero() {
		return nil
	}
	err := diag.Errorf(diag.Invalid, "%s is the root of a workspace, not a pack", dir)
	var names []string
	for _, member := range members(fsys, c.Manifest.Workspace) {
		if len(names) == maxMembersInHint {
			names = append(names, "…")
			break
		}
		names = append(names, path.Join(dir, member))
	}
	if len(names) == 0 {
		return err.WithHint("use the directory of a pack in the workspace")
	}
	return err.WithHint("use a pack in the workspace: %s", strings.Join(names, ", "))
}

// members returns the sorted directories that match a workspace's patterns and have a manifest.
func members(fsys fs.FS, patterns []string) []string {
	var dirs []string
	_ = fs.WalkDir(newLimitedFS(fsys), ".", func(dir string, d fs.DirEntry, err error) error { // only for a hint
		if err != nil || !d.IsDir() || dir == "." {
			return nil //nolint:nilerr // only for a hint
		}
		if strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" {
			return fs.SkipDir
		}
		for _, p := range patterns {
			if !MatchGlob(strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/"), dir) {
				continue
			}
			if _, err := fs.Stat(fsys, path.Join(dir, ManifestName)); err == nil {
				dirs = append(dirs, dir)
				break
			}
		}
		return nil
	})
	return dirs
}
