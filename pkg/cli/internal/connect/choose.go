package connect

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// chosenAgents returns the agents that the command line names, or those that the user picks from the choices. With
// --all, it returns the detected agents to connect, or all choices to disconnect.
func (a *app) chosenAgents(
	o *connectFlags, e connect.Env, ids []string, verb string,
	choices func(*connectFlags, connect.Env) ([]console.Choice, error),
) ([]connect.Agent, error) {
	if o.scope != "" && !slices.Contains(connectScopes, o.scope) {
		return nil, diag.Errorf(diag.Usage, "unknown --scope %q", o.scope).
			WithHint("use %s", textx.OneOf(connectScopes))
	}
	found := detected(e)
	switch {
	case len(ids) > 0 && o.all:
		return nil, diag.Errorf(diag.Usage, "--all cannot be used with names of agents")
	case o.all && verb == "disconnect":
		list, err := choices(o, e)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		for _, c := range list {
			ids = append(ids, c.Value)
		}
	case o.all && len(found) == 0:
		return nil, diag.Errorf(diag.NotFound, "no agent detected").
			WithHint("select an agent with: skillpm %s AGENT; list agents with: skillpm agents --all", verb)
	case o.all:
		return slices.DeleteFunc(found, func(h connect.Agent) bool {
			if !o.supports(h) {
				a.Note("Skipped %s, which does not support the scope %s.", h.Title, o.scope)
				return true
			}
			return false
		}), nil
	case len(ids) == 0 && a.CanAsk():
		options, err := choices(o, e)
		if err != nil || len(options) == 0 {
			return nil, err
		}
		list := console.PickList{Title: "Which agents?", Note: "Select the agents to " + verb + ".", Choices: options}
		if ids, err = a.Pick(list); err != nil {
			return nil, err
		}
	}
	if len(ids) == 0 {
		return nil, diag.Errorf(diag.Usage, "skillpm %s needs an AGENT", verb).WithHint("%s", agentsHint(found))
	}
	var agents []connect.Agent
	for _, id := range ids {
		h, err := findAgent(id)
		if err != nil {
			return nil, err
		}
		if !o.supports(h) {
			var scopes []string
			for _, in := range scopesOf(h, connect.Hook, connect.MCP) {
				scopes = append(scopes, string(in))
			}
			return nil, diag.Errorf(diag.Usage, "cannot %s %s: the agent does not support the scope %s",
				verb, h.Title, o.scope).
				WithHint("use --scope %s", textx.Or(scopes))
		}
		if !slices.ContainsFunc(agents, func(x connect.Agent) bool { return x.ID == h.ID }) {
			agents = append(agents, h)
		}
	}
	return agents, nil
}

// offeredAgents returns the agents that can be connected: detected ones, then those with hooks or an MCP server, then
// the others.
func (a *app) offeredAgents(o *connectFlags, e connect.Env) ([]console.Choice, error) {
	found := detected(e)
	groups := [3][]console.Choice{}
	for _, id := range agent.IDs() {
		h, err := findAgent(id)
		if err != nil || id == agent.SharedID || !o.supports(h) {
			continue
		}
		choice, group := console.Choice{Value: h.ID, Text: h.Title}, 2
		if len(scopesOf(h, connect.Hook, connect.MCP)) > 0 {
			group = 1
		}
		if slices.ContainsFunc(found, func(x connect.Agent) bool { return x.ID == h.ID }) {
			group = 0
			choice.Text += " (detected)"
		}
		groups[group] = append(groups[group], choice)
	}
	return slices.Concat(groups[:]...), nil
}

// connectedAgents returns the agents that are connected: with hooks, an MCP server, or links.
func (a *app) connectedAgents(o *connectFlags, e connect.Env) ([]console.Choice, error) {
	links := a.linkedDirs(e)
	found := detected(e)
	var choices []console.Choice
	for _, id := range agent.IDs() {
		h, err := findAgent(id)
		if err != nil || id == agent.SharedID || !o.supports(h) {
			continue
		}
		s, err := a.agentStatus(o, e, h, slices.ContainsFunc(found, func(x connect.Agent) bool { return x.ID == id }))
		if err != nil {
			return nil, err
		}
		links.mark(s, h.Agent)
		if len(s.Connected)+len(s.Entries) > 0 {
			choices = append(choices, console.Choice{Value: h.ID, Text: h.Title + ": " + byScope(s.Connected)})
		}
	}
	return choices, nil
}

// agentsHint returns the hint for a command line without agents.
func agentsHint(found []connect.Agent) string {
	if len(found) == 0 {
		return "list agents with: skillpm agents --all"
	}
	var names []string
	for _, h := range found {
		names = append(names, h.ID)
	}
	return "use " + textx.OneOf(names) + ", or select all detected agents with --all"
}

// supports reports whether an agent can be connected in the requested scope.
func (o *connectFlags) supports(h connect.Agent) bool {
	scopes := scopesOf(h, connect.Hook, connect.MCP)
	if len(scopes) == 0 {
		scopes = []connect.Scope{connect.Project, connect.User}
	}
	return o.scope == "" || slices.Contains(scopes, connect.Scope(o.scope))
}

// detected returns the agents that are in use here.
func detected(e connect.Env) []connect.Agent {
	ids := detectedAgents(e)
	for _, h := range connect.Detect(e, ids) {
		if !slices.Contains(ids, h.ID) {
			ids = append(ids, h.ID)
		}
	}
	slices.Sort(ids)
	var agents []connect.Agent
	for _, id := range ids {
		if h, err := findAgent(id); err == nil && id != agent.SharedID {
			agents = append(agents, h)
		}
	}
	return agents
}
