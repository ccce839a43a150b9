package runtime

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// confine returns the sandbox rules for the commands of a skill that run in workDir, nil if they run unconfined.
func (h *Host) confine(l *catalog.Loaded, workDir string) (*sandbox.Rules, []string, error) {
	e := l.Front.Execution
	request := enforce.Request{Sandbox: e.Sandbox, AllowedPaths: e.AllowedPaths, Network: e.Network}
	as := h.PolicySkill(l.Skill)
	dirs := enforce.Directories{Dir: l.Dir, Work: workDir, Project: h.project, Skills: h.skillDirs()}
	rules, notes, err := h.guard.Confine(as, request, dirs)
	if rules == nil && err == nil && h.o.Confine && sandbox.Version() > 0 {
		request.Sandbox = "true"
		if rules, notes, err = h.guard.Confine(as, request, dirs); rules != nil {
			rules.Optional = true
		}
	}
	if rules != nil {
		rules.Write = append(rules.Write, h.o.Writable...)
	}
	return rules, notes, err
}

// Confined returns the sandbox rules for the scripts of a skill, run in the working directory. It returns nil if
// scripts have the user's permissions, and an error if they must not run.
func (h *Host) Confined(l *catalog.Loaded) (*sandbox.Rules, []string, error) {
	return h.confine(l, h.o.Dir)
}

// skillDirs returns the directories in which the project keeps skills.
func (h *Host) skillDirs() (dirs []string) {
	if h.project == "" {
		return nil
	}
	for _, layer := range h.profile.Layers {
		for _, dir := range layer.On(runtime.GOOS) {
			if inside, ok := strings.CutPrefix(dir, "./"); ok {
				dirs = append(dirs, filepath.Join(h.project, filepath.FromSlash(inside)))
			}
		}
	}
	return dirs
}
