package skillpm

import (
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// AgentsOptions configure [Client.LinkAgents]. Agents are named by their ids.
type AgentsOptions struct {
	Scope  string // scope.KindProject or scope.KindUser; "" means the project
	DryRun bool   // write nothing
	Add    []string
	Remove []string

	// Detected are agents in Add that are detected from now on, because their configuration was written.
	Detected []string
	// Deleted are files that a dry run did not delete, but that do not show that an agent in Remove is in use.
	Deleted []string
	// Shared removes the links in [agent.Shared], too, if no other agent is detected that reads them.
	Shared bool
	// Previous is the content that the manifest gets back, without the agents in Remove. If it is nil, the manifest
	// only loses these agents.
	Previous []byte
}

// AgentsReport is the result of [Client.LinkAgents].
type AgentsReport struct {
	Dirs     []AgentDir // the directories with links, after the change
	Manifest string     // path of skillpm.yaml
	Old, New []byte     // content of the manifest, equal if it did not change
}

// LinkAgents changes the agents that the installed skills are linked for. If the manifest or the user's settings name
// agents, or an agent cannot be detected, the manifest names them afterwards. Otherwise it stays as it is: the agents
// are detected by the directories with the links.
func (c *Client) LinkAgents(ctx context.Context, o AgentsOptions) (*AgentsReport, error) {
	r := request{ChangeOptions: ChangeOptions{Scope: o.Scope, DryRun: o.DryRun}, unlink: o.Remove}
	report := &AgentsReport{}
	done, err := c.change(ctx, r, func(in *installer) (*resolution, error) {
		res, err := in.resolve(ctx, InstallOptions{})
		if err != nil {
			return nil, err
		}
		report.Manifest, report.Old = in.Scope.Manifest(), in.Manifest.Bytes()
		if err := in.chooseAgents(res, o); err != nil {
			return nil, err
		}
		report.New = res.manifest.Bytes()
		return res, nil
	})
	if err != nil {
		return nil, err
	}
	report.Dirs = done.Agents
	return report, nil
}

// chosenAgents returns the ids of the agents that an addition to the manifest's list must keep: those in the list, else
// those in the user's settings, else the detected agents for which skills are linked now.
func (in *installer) chosenAgents(m *pack.Manifest) []string {
	switch {
	case len(m.Agents) > 0:
		return m.Agents
	case len(in.Config.Agents) > 0:
		return in.Config.Agents
	}
	var ids []string
	for _, a := range in.LinkedAgents() {
		ids = append(ids, a.ID)
	}
	return ids
}

// chooseAgents changes the manifest of a resolution or, if agents are detected, what the operation detects.
func (in *installer) chooseAgents(res *resolution, o AgentsOptions) error {
	user := in.Scope.Kind == scope.KindUser
	add, err := agent.LookupAll(o.Add)
	if err != nil {
		return err
	}
	remove, err := agent.LookupAll(o.Remove)
	if err != nil {
		return err
	}
	names := slices.Clone(res.manifest.Agents)
	if len(names) == 0 && len(add) > 0 {
		names = slices.Clone(in.Config.Agents)
	}
	if len(names) == 0 && !slices.ContainsFunc(add, func(a agent.Agent) bool {
		return !a.DetectedByLinks(user) && !slices.Contains(o.Detected, a.ID)
	}) {
		in.request.agents = workspace.AgentChoice{Also: o.Add, Deleted: o.Deleted}
		for _, dir := range agent.Dirs(in.client.Machine.Relocate(remove), user) {
			if dir != agent.Shared || o.Shared {
				in.request.agents.Without = append(in.request.agents.Without, dir)
			}
		}
		return nil
	}
	if len(names) == 0 {
		for _, a := range in.DetectedAgents() {
			if !slices.ContainsFunc(add, func(x agent.Agent) bool { return x.ID == a.ID }) {
				names = append(names, a.ID)
			}
		}
	}
	for _, a := range add {
		if !slices.ContainsFunc(names, a.Is) {
			names = append(names, a.ID)
		}
	}
	if o.Previous != nil {
		if res.manifest, err = pack.ParseManifest(in.Scope.Manifest(), o.Previous); err != nil {
			return err
		}
		names = slices.Clone(res.manifest.Agents)
	}
	names = slices.DeleteFunc(names, func(id string) bool {
		return slices.ContainsFunc(remove, func(a agent.Agent) bool { return a.Is(id) })
	})
	in.request.agents = workspace.AgentChoice{Only: names}
	if len(names) == 0 {
		in.request.agents = workspace.AgentChoice{Only: []string{agent.DetectedID}, Deleted: o.Deleted}
	}
	if slices.Equal(names, res.manifest.Agents) {
		return nil
	}
	return res.manifest.SetAgents(names)
}
