package connect

import (
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// linkSkills links the installed skills for the agents.
func (a *app) linkSkills(ctx context.Context, o *connectFlags, e connect.Env, results []*connected) error {
	in := installScope(o.scope)
	if in == "" || in == scope.KindProject && e.Project == "" {
		return nil
	}
	c, err := a.Client()
	if err != nil {
		return err
	}
	list, err := c.List(ctx, in)
	if diag.CodeOf(err) == diag.NotFound { // a project without a manifest
		list, err = &skillpm.ListReport{}, nil
	}
	if err == nil && len(list.Packs) == 0 && len(results) > 0 {
		a.Note("No skills are linked, because no packs are installed. Add one with: skillpm install OWNER/NAME")
	}
	if err != nil || len(list.Packs) == 0 {
		return err
	}
	linked := map[string]bool{}
	for _, dir := range list.Agents {
		linked[dir.Dir] = true
	}
	dirOf := func(id string) string {
		row, _ := agent.Find(id)
		if in == scope.KindUser {
			return row.User
		}
		return row.Project
	}
	var missing []string
	for _, r := range results {
		if dir := dirOf(r.Agent); dir != "" && !linked[dir] {
			missing = append(missing, r.Agent)
			r.Linked = true
		}
	}
	if len(missing) > 0 && !o.dryRun {
		for _, id := range detectedAgents(e) { // they are linked now, without being named
			if linked[dirOf(id)] {
				missing = append(missing, id)
			}
		}
		options := skillpm.InstallOptions{Agents: missing}
		options.Scope = in
		if _, err := c.Install(ctx, options); err != nil {
			return err
		}
	}
	for _, r := range results {
		r.Skills = dirOf(r.Agent)
	}
	return nil
}

// unlinkSkills removes the agents from those that the manifest links for.
func (a *app) unlinkSkills(ctx context.Context, o *connectFlags, agents []connect.Agent) ([]*connected, error) {
	in := installScope(o.scope)
	if in == "" {
		return nil, nil
	}
	c, err := a.Client()
	if err != nil {
		return nil, err
	}
	list, err := c.List(ctx, in)
	if err != nil || len(list.Packs) == 0 {
		return nil, nil //nolint:nilerr // without an installation, nothing is linked
	}
	var options skillpm.InstallOptions
	options.Scope = in
	options.Agents = slices.Clone(list.Named)
	var unlinked, shared []*connected
	for _, h := range agents {
		dir := h.Project
		if in == scope.KindUser {
			dir = h.User
		}
		if !slices.ContainsFunc(list.Named, h.Is) {
			if slices.ContainsFunc(list.Agents, func(d skillpm.AgentDir) bool { return d.Dir == dir }) {
				shared = append(shared, &connected{Agent: h.ID, Title: h.Title, Skills: dir})
			}
			continue
		}
		options.Agents = slices.DeleteFunc(options.Agents, h.Is)
		options.Unlink = append(options.Unlink, h.ID)
		unlinked = append(unlinked, &connected{Agent: h.ID, Title: h.Title, Skills: dir, Linked: true})
	}
	if len(unlinked) == 0 || o.dryRun {
		return append(unlinked, shared...), nil
	}
	if len(options.Agents) == 0 {
		options.Agents, options.Unlink = []string{agent.DetectedID}, nil
	}
	if _, err = c.Install(ctx, options); err != nil {
		return append(unlinked, shared...), err
	}
	if list, err = c.List(ctx, in); err != nil {
		return append(unlinked, shared...), err
	}
	for _, u := range unlinked { // a detected agent keeps its links
		u.Linked = !slices.ContainsFunc(list.Agents, func(d skillpm.AgentDir) bool { return d.Dir == u.Skills })
	}
	return append(unlinked, shared...), nil
}

// installScope returns the scope of an installation for --scope, or "" if skills are not linked in it.
func installScope(text string) string {
	switch text {
	case "":
		return scope.KindProject
	case string(connect.Enterprise):
		return ""
	}
	return text
}
