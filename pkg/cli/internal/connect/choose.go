package connect

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// chosenAgents returns the agents that the command line names, all detected ones, or those that the user picks.
func (a *app) chosenAgents(o *connectFlags, e connect.Env, ids []string, verb string) ([]connect.Agent, error) {
	if o.scope != "" && !slices.Contains(connectScopes, o.scope) {
		return nil, diag.Errorf(diag.Usage, "unknown --scope %q", o.scope).
			WithHint("use %s", textx.OneOf(connectScopes))
	}
	found := detected(e)
	switch {
	case len(ids) > 0 && o.all:
		return nil, diag.Errorf(diag.Usage, "--all cannot be used with names of agents")
	case o.all && len(found) == 0:
		return nil, diag.Errorf(diag.NotFound, "no agent detected").
			WithHint("name an agent: skillpm %s AGENT; list agents with: skillpm agents --all", verb)
	case o.all:
		return slices.DeleteFunc(found, func(h connect.Agent) bool {
			if !o.supports(h) {
				a.Note("Skipped %s, which does not support the scope %s.", h.Title, o.scope)
				return true
			}
			return false
		}), nil
	case len(ids) == 0 && a.CanAsk():
		var options []console.Choice
		for _, h := range found {
			options = append(options, console.Choice{Value: h.ID, Text: h.Title})
		}
		if len(options) == 0 {
			for _, h := range connect.Agents() {
				options = append(options, console.Choice{Value: h.ID, Text: h.Title})
			}
		}
		var err error
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
			return nil, diag.Errorf(diag.Usage, "%s cannot be connected in the scope %s", h.Title, o.scope).
				WithHint("use --scope %s", textx.Or(scopes))
		}
		if !slices.ContainsFunc(agents, func(x connect.Agent) bool { return x.ID == h.ID }) {
			agents = append(agents, h)
		}
	}
	return agents, nil
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
	return "detected agents are " + textx.And(names) + "; select all of them with --all"
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
		if h, err := findAgent(id); err == nil {
			agents = append(agents, h)
		}
	}
	return agents
}
