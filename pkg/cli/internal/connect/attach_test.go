package connect

import (
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/connect/hook"
)

// TestHooksThatAreAnswered proves that each event which hook install writes is one that hook answers, and that each host
// whose hooks are answered can be written to.
func TestHooksThatAreAnswered(t *testing.T) {
	answered := map[string][]string{}
	for _, h := range hook.Hosts() {
		answered[h.ID] = h.Events
		if !slices.Contains(connect.IDs(connect.Hook), h.ID) {
			t.Errorf("hook install does not know %s", h.ID)
		}
	}
	for _, h := range connect.Hosts() {
		for _, event := range h.Events {
			if !slices.Contains(answered[h.ID], event) {
				t.Errorf("hook %s --host %s is written and not answered", event, h.ID)
			}
		}
	}
}
