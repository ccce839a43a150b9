package govern

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// unreached is what a denial cannot stop.
type unreached struct {
	agents    []connect.Agent // agents in use whose tool calls skillpm does not check
	connected bool            // skillpm checks the tool calls of another agent
	remaining []string        // directories of the denied skills that skillpm did not create
}

// findUnreached returns what a denial of a pattern cannot stop, because hooks are not connected.
func (a *app) findUnreached(
	ctx context.Context, h *runtime.Host, pattern policy.SkillPattern,
) (u unreached, err error) {
	p := h.Paths()
	e := connect.Env{
		Home: p.Home, Project: h.Project(), OS: a.OS, Getenv: a.Getenv, State: p.State,
		Machine: a.Paths.Enterprise,
	}
	isDir := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	}
	var ids []string
	for _, found := range agent.InUse(isDir, e.Project, e.Home, e.Getenv) {
		ids = append(ids, found.ID)
	}
	for _, found := range connect.Detect(e, ids) {
		if hooked(e, found) {
			u.connected = true
		} else if found.ID != agent.SharedID {
			u.agents = append(u.agents, found)
		}
	}
	c, err := h.Catalog(ctx)
	if err != nil {
		return u, err
	}
	for _, k := range c.All() {
		if k.Pack == "" && k.Scope != catalog.ScopeMachine &&
			pattern.Matches([]string{k.Name, k.Declared, filepath.Base(k.Dir)}, "") {
			u.remaining = append(u.remaining, k.Dir)
		}
	}
	return u, nil
}

// hooked reports whether an agent's hooks are connected in a scope.
func hooked(e connect.Env, found connect.Agent) bool {
	return slices.ContainsFunc(found.Scopes(connect.Hook), func(in connect.Scope) bool {
		if e.Project == "" && in == connect.Project {
			return false
		}
		r, err := connect.Status(e, connect.Options{Kind: connect.Hook, Agent: found, Scope: in})
		return err == nil && r.State == connect.Installed && len(r.Obstacles) == 0
	})
}

// warnUnreached says what a denial cannot stop.
func (a *app) warnUnreached(u unreached) {
	if len(u.agents) == 0 && u.connected {
		return
	}
	who, connectable := "any agent", []string{}
	if len(u.agents) > 0 {
		var titles []string
		for _, x := range u.agents {
			titles = append(titles, x.Title)
			if len(x.Scopes(connect.Hook)) > 0 {
				connectable = append(connectable, x.ID)
			}
		}
		who = textx.FirstAndMore(titles, 5)
	}
	a.Warn("skillpm's hooks are not connected to %s: skillpm cannot stop sessions that have already loaded the skill, "+
		"nor agents that read its files as text", who)
	if len(u.remaining) > 0 {
		a.Warn("skillpm did not create %s, so agents without hooks still find the skill there",
			textx.FirstAndMore(u.remaining, 5))
	}
	hint := "end running sessions"
	switch {
	case len(connectable) > 0:
		hint += "; to check the tool calls of agents, run: skillpm connect " + strings.Join(connectable, " ")
	case len(u.agents) == 0:
		hint += "; to check the tool calls of an agent, run: skillpm connect AGENT"
	}
	a.Hint(hint)
}

// ids returns the ids of the agents.
func (u unreached) ids() []string {
	ids := []string{}
	for _, x := range u.agents {
		ids = append(ids, x.ID)
	}
	return ids
}
