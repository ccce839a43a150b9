package connect

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// attachEnv returns the locations of agents' configuration.
func (a *app) attachEnv(needsProject bool) (connect.Env, error) {
	o, err := a.Options()
	if err != nil {
		return connect.Env{}, err
	}
	e := connect.Env{
		Home: o.Paths.Home, OS: a.OS, Getenv: a.Getenv, State: o.Paths.State,
		Machine: a.Paths.Enterprise,
	}
	s, _, err := o.Paths.Project(o.Dir)
	switch {
	case err != nil && needsProject:
		return e, err
	case err != nil:
		e.Project = ""
	default:
		e.Project = s.Root
	}
	return e, nil
}

// program returns the program that agents start. A configuration that is shared through a repository contains only its
// name, because its path differs between machines.
func (o *connectFlags) program(in connect.Scope) (string, error) {
	switch {
	case strings.ContainsFunc(o.command, func(r rune) bool { return r < ' ' }):
		return "", diag.Errorf(diag.Usage, "invalid --command %q", o.command)
	case o.command != "":
		return o.command, nil
	case in == connect.Project:
		return connect.ServerName, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	// keep a link in PATH, because an update changes its target
	if onPath, err := exec.LookPath(connect.ServerName); err == nil && filepath.IsAbs(onPath) {
		if sameFile(onPath, self) {
			return onPath, nil
		}
	}
	return self, nil
}

func sameFile(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}

// detectedAgents returns the ids of the detected agents.
func detectedAgents(e connect.Env) []string {
	var ids []string
	for _, found := range agent.InUse(isDir, e.Project, e.Home, e.Getenv) {
		ids = append(ids, found.ID)
	}
	return ids
}

func isDir(path string) bool {
	info, err := os.Stat(filepath.FromSlash(path))
	return err == nil && info.IsDir()
}

// checkShared rejects a program for all users of the machine if others than its administrator can replace it.
func (a *app) checkShared(program string) error {
	if !filepath.IsAbs(program) || a.OS == "windows" {
		return nil
	}
	real, err := pathx.ResolveExisting(program)
	if err != nil { // agents reports missing programs
		return nil //nolint:nilerr // agents reports missing programs
	}
	for _, path := range []string{program, real} {
		for at := path; ; at = filepath.Dir(at) {
			info, err := os.Stat(at)
			if err != nil {
				return err
			}
			if why := others(info, a.Admin); why != "" {
				return diag.Errorf(diag.Denied,
					"cannot use --command %s for all users: %s is not protected, because %s",
					program, at, why).
					WithHint("install skillpm in a directory that only the administrator can write to, and use %s",
						"--command /usr/local/bin/skillpm")
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return nil
}

// scopesOf returns the scopes in which an agent has entries of a kind, or of any.
func scopesOf(h connect.Agent, kinds ...connect.Kind) []connect.Scope {
	var scopes []connect.Scope
	for _, kind := range kinds {
		for _, in := range h.Scopes(kind) {
			if !slices.Contains(scopes, in) {
				scopes = append(scopes, in)
			}
		}
	}
	return scopes
}

// findAgent returns how an agent is configured. For an agent whose configuration skillpm does not write, it has no
// scopes.
func findAgent(id string) (connect.Agent, error) {
	row, err := agent.Lookup(id)
	if err != nil {
		return connect.Agent{}, err
	}
	for _, h := range connect.Agents() {
		if h.ID == row.ID {
			return h, nil
		}
	}
	return connect.Agent{Agent: row}, nil
}
