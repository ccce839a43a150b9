package profile

import (
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/skill"
)

// Recognition is how a project of a system is recognized by its files.
type Recognition struct {
	Dirs   []string `yaml:"dirs"`   // directories of skills that only this system has
	Fields []string `yaml:"fields"` // fields of frontmatter that only this system and agents with other directories have
}

// maxRecognized is the maximum number of skills that are read to recognize a project.
const maxRecognized = 64

// Recognize returns the built-in profile of the system that the skills of a project are written for: the only one whose
// directories and fields they have, or that accepts skills without frontmatter. It returns nil if there is none.
func Recognize(project fs.FS) (*Profile, error) {
	all, err := Agents()
	if err != nil {
		return nil, err
	}
	var best *Profile
	most, tied := 0, false
	for _, p := range all {
		switch n := p.marks(project); {
		case n > most:
			best, most, tied = p, n, false
		case n == most && n > 0:
			tied = true
		}
	}
	if tied {
		return nil, nil
	}
	return best, nil
}

// marks counts what a project has of a system.
func (p *Profile) marks(project fs.FS) (n int) {
	if p.Recognition == nil {
		return 0
	}
	const certain = 1 << 20
	for _, dir := range p.Recognition.Dirs {
		if len(skillDirs(project, dir)) > 0 {
			return certain
		}
	}
	if len(p.Recognition.Fields) == 0 {
		return 0
	}
	read := 0
	for _, dir := range p.ProjectDirs() {
		for _, d := range skillDirs(project, dir) {
			if read++; read > maxRecognized {
				return n
			}
			doc, _, err := skill.Load(project, d)
			if err != nil {
				continue
			}
			if doc.Front == nil && doc.FrontLine == 0 && len(p.Require) == 0 {
				n++
			}
			for _, field := range p.Recognition.Fields {
				if k, _ := doc.Lookup(field); k != nil {
					n++
				}
			}
		}
	}
	return n
}

// ProjectDirs returns the directories of a project in which the profile looks for skills.
func (p *Profile) ProjectDirs() (dirs []string) {
	for _, l := range p.Layers {
		for _, dir := range l.On(runtime.GOOS) {
			if strings.HasPrefix(dir, "./") {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// Finds reports whether the profile finds skills in the directories of a project.
func (p *Profile) Finds(project fs.FS) bool {
	return slices.ContainsFunc(p.ProjectDirs(), func(dir string) bool { return hasSkill(project, dir) })
}

// hasSkill reports whether there is a skill directly below a directory of the project. It reads the directory only
// until it finds one.
func hasSkill(project fs.FS, dir string) bool {
	const batch = 32
	dir = path.Clean(strings.TrimPrefix(dir, "./"))
	f, err := project.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	list, ok := f.(fs.ReadDirFile)
	for ok {
		entries, err := list.ReadDir(batch)
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isSkill(project, path.Join(dir, e.Name())) }) {
			return true
		}
		ok = err == nil
	}
	return false
}

func isSkill(project fs.FS, dir string) bool {
	_, err := fs.Stat(project, path.Join(dir, skill.File))
	return err == nil
}

// skillDirs returns the directories of skills directly below a directory of the project.
func skillDirs(project fs.FS, dir string) (dirs []string) {
	dir = path.Clean(strings.TrimPrefix(dir, "./"))
	entries, err := fs.ReadDir(project, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if at := path.Join(dir, e.Name()); isSkill(project, at) {
			dirs = append(dirs, at)
		}
	}
	return slices.Clip(dirs)
}
