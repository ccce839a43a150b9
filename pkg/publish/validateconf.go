package publish

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// checkedProject is the project that contains a validated path.
type checkedProject struct {
	dir         string // of its skillpm.yaml; without one, the client's directory
	scope       scope.Scope
	hasManifest bool // skillpm.yaml exists
	config      pack.Validate
	manifest    *pack.Manifest // nil if it cannot be read
	// programs is a manifest that is used only for its list of executable files.
	programs pack.Manifest
}

// checkedProject finds the project that contains an absolute path and reads the validate: settings of its manifest.
// Other problems of the manifest are findings, not errors.
func (c *Client) checkedProject(abs string, isolated bool) (*checkedProject, error) {
	p := &checkedProject{dir: c.Dir}
	s, found, err := c.Paths.Project(nearestExisting(abs))
	if _, home := errors.AsType[*scope.HomeError](err); home { // skills can be validated outside of projects
		return p, nil
	}
	if err != nil || !found {
		return p, err
	}
	p.dir, p.scope, p.hasManifest = s.Root, s, true
	if isolated {
		return p, nil
	}
	data, err := safefile.ReadOptional(s.Manifest())
	if err != nil {
		return nil, err
	}
	m, _ := pack.CheckManifest(s.Manifest(), data)
	if m != nil {
		p.config, p.manifest = m.Validate, m
		p.programs.Executable = m.Executable
	}
	return p, nil
}

// nearestExisting returns a path, or the nearest directory above it that exists.
func nearestExisting(abs string) string {
	for {
		if info, err := os.Stat(abs); err == nil && info.IsDir() || filepath.Dir(abs) == abs {
			return abs
		}
		abs = filepath.Dir(abs)
	}
}

// profiles returns the ids of the profiles that the manifest names.
func (p *checkedProject) profiles() []string {
	if p.manifest == nil {
		return nil
	}
	return p.manifest.ValidateProfiles()
}

// settings returns the linter's settings: those of the project, overridden by the command line.
func (p *checkedProject) settings(root string, o ValidateOptions) lint.Settings {
	s := lint.NewSettings(root, p.config)
	s.Strict = (s.Strict || o.Strict) && !o.Lenient
	for _, pattern := range o.Enable {
		s.Levels = append(s.Levels, lint.Level{Rules: pattern, Own: true})
	}
	for _, pattern := range o.Disable {
		s.Levels = append(s.Levels, lint.Level{Rules: pattern, Off: true})
	}
	s.Levels = append(s.Levels, o.levels...)
	return s
}

// rules reads the rules of the team that the manifest names, or returns nil if it names none.
func (p *checkedProject) rules(show, inVolume func(string) string) (*lint.RuleSet, error) {
	if p.config.RulesDir == "" {
		return nil, nil
	}
	dir := filepath.Join(p.dir, filepath.FromSlash(p.config.RulesDir))
	fsys, err := fs.Sub(safefile.Dir(p.dir), path.Clean(p.config.RulesDir)) // its links do not lead out of p.dir
	if err != nil {
		return nil, err
	}
	return lint.ReadRules(fsys, func(name string) string { return show(inVolume(filepath.Join(dir, name))) })
}

// ProjectRules returns the rules of the team that the project in the client's directory names, or nil.
func (c *Client) ProjectRules() (*lint.RuleSet, error) {
	p, err := c.checkedProject(c.Dir, false)
	if err != nil {
		return nil, err
	}
	v := c.volume(volumeRoot(c.Dir))
	return p.rules(v.show, v.inVolume)
}

// skillExists returns a function that reports whether a skill exists outside the targets: installed for the project or
// the user, or in a directory near the targets.
func (c *Client) skillExists(p *checkedProject, targets []string) func(name string) bool {
	scopes := []scope.Scope{c.Paths.User()}
	if p.hasManifest {
		scopes = append(scopes, p.scope)
	}
	var names []string
	for _, s := range scopes {
		names = append(names, lockedNames(s)...)
	}
	slices.Sort(names)
	return func(name string) bool {
		_, ok := slices.BinarySearch(names, name)
		return ok || p.hasSkillNear(name, targets)
	}
}

// skillDirs are the directories of other skills, below a project and next to a checked skill.
var skillDirs = [...]string{"", "skills", ".agents/skills", ".claude/skills", ".skillpm/skills"}

// hasSkillNear reports whether a skill of that name is in a directory near one of the targets, or in the project.
func (p *checkedProject) hasSkillNear(name string, targets []string) bool {
	dirs := []string{p.dir}
	for _, t := range targets {
		dirs = append(dirs, t, filepath.Dir(t), filepath.Dir(filepath.Dir(t)))
	}
	for _, candidate := range dirs {
		for _, dir := range skillDirs {
			if info, err := os.Stat(filepath.Join(candidate, filepath.FromSlash(dir), name, skill.File)); err == nil &&
				info.Mode().IsRegular() {
				return true
			}
		}
	}
	return false
}

// lockedNames returns the names of a scope's installed skills, and none if its lockfile cannot be read, which other
// commands report.
func lockedNames(s scope.Scope) []string {
	data, err := safefile.ReadOptional(s.Lock())
	if err != nil || data == nil {
		return nil
	}
	lock, err := pack.ParseLock(s.Lock(), data)
	if err != nil {
		return nil
	}
	return lock.SkillNames()
}
