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

// TestHooksThatAreAnswered proves that each event which hook install writes is one that hook answers, and that each
// host whose hooks are answered can be written to.
func TestHooksThatAreAnswered(t *testing.T) {
	answered := map[string][]string{}
	for _, h := range hook.Agents() {
		answered[h.ID] = h.Events
		if !slices.Contains(connect.IDs(connect.Hook), h.HookID()) {
			t.Errorf("hook install does not know %s", h.ID)
		}
	}
	for _, h := range connect.Agents() {
		for _, event := range h.Events {
			if !slices.Contains(answered[h.ID], event) {
				t.Errorf("hook %s --host %s is written and not answered", event, h.ID)
			}
		}
	}
}

// TestAgentIDs proves that each agent is known by the same ids wherever one is written: to link its skills, to write
// its configuration, to answer its hooks, and as the profile that its skills follow.
func TestAgentIDs(t *testing.T) {
	for _, a := range agent.All() {
		for _, id := range []string{a.ID, a.Alias} {
			if id == "" {
				continue
			}
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
					t.Errorf("%s --host %s configures %s", kind, id, h.ID)
				}
				if err != nil && slices.Contains(connect.IDs(kind), a.HookID()) {
					t.Errorf("%s --host %s: %v", kind, id, err)
				}
			}
			answers := slices.ContainsFunc(hook.Agents(), func(h hook.Agent) bool { return h.Agent == a })
			r := hook.Answer(t.Context(), hook.Options{Agent: id, Event: "unknown"}, strings.NewReader("{}"))
			if answers != (r.Err == nil) {
				t.Errorf("hook --host %s: %v", id, r.Err)
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
