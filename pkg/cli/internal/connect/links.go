package connect

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// links are the directories with links to the installed skills of one scope.
type links struct {
	*app
	env    connect.Env
	client *skillpm.Client
	scope  string
	list   *skillpm.ListReport
}

// manifestEdit is a change of the agents in a manifest.
type manifestEdit struct {
	File string `json:"file"`
	Diff string `json:"diff,omitempty"` // unified diff of the change; only in a dry run
}

// openLinks returns the links of a scope, or nil if no packs are installed there.
func (a *app) openLinks(ctx context.Context, e connect.Env, in string) (*links, error) {
	if in == "" || in == scope.KindProject && e.Project == "" {
		return nil, nil
	}
	c, err := a.Client()
	if err != nil {
		return nil, err
	}
	list, err := c.List(ctx, in)
	if diag.CodeOf(err) == diag.NotFound { // a project without a manifest
		return nil, nil
	}
	if err != nil || len(list.Packs) == 0 {
		return nil, err
	}
	return &links{app: a, env: e, client: c, scope: in, list: list}, nil
}

// row returns an agent with the directories that environment variables move.
func (l *links) row(id string) agent.Agent {
	row, _ := agent.Find(id)
	return agent.Relocate([]agent.Agent{row}, l.env.Home, l.env.Getenv)[0]
}

// dirOf returns the directory in which skills are linked for an agent.
func (l *links) dirOf(id string) string {
	row := l.row(id)
	if l.scope == scope.KindUser {
		return row.User
	}
	return row.Project
}

// path returns the path of a directory with links: relative to the project, or absolute in other scopes.
func (l *links) path(dir string) string {
	if dir == "" || l.scope == scope.KindProject {
		return dir
	}
	return filepath.Join(l.list.Root, filepath.FromSlash(dir))
}

// hasLinks reports whether skills are linked in a directory.
func hasLinks(dirs []skillpm.AgentDir, dir string) bool {
	return slices.ContainsFunc(dirs, func(d skillpm.AgentDir) bool { return d.Dir == dir })
}

// add links the skills for the agents that were connected.
func (l *links) add(ctx context.Context, dryRun bool, results []*connected) error {
	o := skillpm.AgentsOptions{Scope: l.scope, DryRun: dryRun}
	report := &skillpm.AgentsReport{Manifest: l.list.Manifest, Old: l.list.ManifestData, New: l.list.ManifestData}
	shared := false
	for _, r := range results {
		dir := l.dirOf(r.Agent)
		r.Skills = l.path(dir)
		if dir == "" || hasLinks(l.list.Agents, dir) {
			continue
		}
		r.Linked = true
		o.Add = append(o.Add, r.Agent)
		shared = shared || dir == agent.Shared
		if l.marked(r) {
			o.Detected = append(o.Detected, r.Agent)
		}
	}
	if len(o.Add) > 0 {
		var err error
		if report, err = l.client.LinkAgents(ctx, o); err != nil {
			return err
		}
	}
	edit := newManifestEdit(report, dryRun)
	for _, r := range results {
		if r.Linked {
			r.Manifest = edit
		}
	}
	record := l.env.LinkRecord(report.Manifest, report.Old)
	if edit != nil && record.Previous == nil {
		record.Agents, record.Previous = nil, report.Old
	}
	for _, r := range results {
		if r.Skills != "" && !slices.Contains(record.Agents, r.Agent) {
			record.Agents, r.recorded = append(record.Agents, r.Agent), true
		}
	}
	record.Shared = record.Shared || shared
	if dryRun {
		return nil
	}
	return l.env.SaveLinkRecord(ctx, report.Manifest, report.New, record)
}

// marked reports whether connect wrote a file by which an agent is detected.
func (l *links) marked(c *connected) bool {
	mark := filepath.FromSlash(l.row(c.Agent).Mark)
	if mark == "" {
		return false
	}
	if !filepath.IsAbs(mark) {
		mark = filepath.Join(l.env.Home, mark)
	}
	return slices.ContainsFunc(c.results(), func(r *connect.Result) bool {
		return pathx.ContainsStrict(mark, r.File)
	})
}

// remove removes the links of the agents that were disconnected, unless another agent reads them or the agent is still
// detected. It adds to the results the agents for which skills were linked.
func (l *links) remove(
	ctx context.Context, dryRun bool, agents []connect.Agent, results []*connected,
) ([]*connected, error) {
	o := skillpm.AgentsOptions{Scope: l.scope, DryRun: dryRun}
	for _, h := range agents {
		if hasLinks(l.list.Agents, l.dirOf(h.ID)) || slices.ContainsFunc(l.list.Named, h.Is) {
			o.Remove = append(o.Remove, h.ID)
		}
	}
	if len(o.Remove) == 0 {
		return results, nil
	}
	for _, c := range results {
		for _, r := range c.results() {
			if r.Deleted {
				o.Deleted = append(o.Deleted, r.File)
			}
		}
	}
	record := l.env.LinkRecord(l.list.Manifest, l.list.ManifestData)
	connectedBefore := slices.Clone(record.Agents)
	record.Agents = slices.DeleteFunc(record.Agents, func(id string) bool { return slices.Contains(o.Remove, id) })
	if len(record.Agents) == 0 {
		o.Previous = record.Previous
	}
	readsShared := func(id string) bool { return l.dirOf(id) == agent.Shared }
	if record.Shared && !slices.ContainsFunc(record.Agents, readsShared) {
		o.Shared, record.Shared = true, false
	}
	report, err := l.client.LinkAgents(ctx, o)
	if err != nil {
		return results, err
	}
	edit := newManifestEdit(report, dryRun)
	for _, h := range agents {
		if !slices.Contains(o.Remove, h.ID) {
			continue
		}
		i := slices.IndexFunc(results, func(c *connected) bool { return c.Agent == h.ID && c.Skills == "" })
		if i < 0 {
			i = len(results)
			results = append(results, &connected{Agent: h.ID, Title: h.Title})
		}
		results[i].Skills = l.path(l.dirOf(h.ID))
		results[i].Linked = !hasLinks(report.Dirs, l.dirOf(h.ID))
		results[i].Manifest = edit
		results[i].recorded = slices.Contains(connectedBefore, h.ID)
	}
	if dryRun {
		return results, nil
	}
	return results, l.env.SaveLinkRecord(ctx, report.Manifest, report.New, record)
}

// newManifestEdit returns the change of a manifest, or nil if it stays as it is.
func newManifestEdit(r *skillpm.AgentsReport, dryRun bool) *manifestEdit {
	if string(r.Old) == string(r.New) {
		return nil
	}
	edit := &manifestEdit{File: r.Manifest}
	if dryRun {
		name := filepath.ToSlash(r.Manifest)
		edit.Diff = textdiff.Unified(name, name, r.Old, r.New)
	}
	return edit
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
