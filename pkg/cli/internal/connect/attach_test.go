package connect

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/connect/hook"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// TestHooksThatAreAnswered proves that hook answers each event that hook install writes, and that skillpm can configure
// each agent whose hooks it answers.
func TestHooksThatAreAnswered(t *testing.T) {
	answered := map[string][]string{}
	for _, h := range hook.Agents() {
		answered[h.ID] = h.Events
		if !slices.Contains(connect.IDs(connect.Hook), h.ID) {
			t.Errorf("hook install does not know %s", h.ID)
		}
	}
	for _, h := range connect.Agents() {
		for _, event := range h.Events {
			if !slices.Contains(answered[h.ID], event) {
				t.Errorf("hook %s --agent %s is written and not answered", event, h.ID)
			}
		}
	}
}

// TestAgentIDs proves that each agent has the same ids everywhere: for linking its skills, writing its configuration,
// answering its hooks, and as the profile of its skills.
func TestAgentIDs(t *testing.T) {
	for _, a := range agent.All() {
		for _, id := range append(strings.Fields(a.Aliases), a.ID) {
			if got, err := agent.Lookup(id); err != nil || got != a {
				t.Errorf("--agent %s: %+v, %v", id, got, err)
			}
			p, err := profile.Lookup(id)
			if err != nil || a.Profile != "" && p.ID != a.Profile {
				t.Errorf("--profile %s: %+v, %v", id, p, err)
			}
			for _, kind := range []connect.Kind{connect.Hook, connect.MCP} {
				h, err := connect.Find(id, kind)
				if err == nil && h.Agent != a {
					t.Errorf("%s --agent %s configures %s", kind, id, h.ID)
				}
				if err != nil && slices.Contains(connect.IDs(kind), a.ID) {
					t.Errorf("%s --agent %s: %v", kind, id, err)
				}
			}
			answers := slices.ContainsFunc(hook.Agents(), func(h hook.Agent) bool { return h.Agent == a })
			r := hook.Answer(t.Context(), hook.Options{Agent: id, Event: "unknown"}, strings.NewReader("{}"))
			if answers != (r.Err == nil) {
				t.Errorf("hook --agent %s: %v", id, r.Err)
			}
		}
	}
	for _, h := range connect.Agents() {
		if h.ID == "" {
			t.Errorf("a row of connect is of no agent in the table: %+v", h.Events)
		}
	}
	for _, h := range hook.Agents() {
		if h.ID == "" {
			t.Errorf("a row of hook is of no agent in the table: %+v", h.Events)
		}
	}
}
