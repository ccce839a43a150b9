//go:build slow

package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// TestClaudeDeny disables a skill while Claude Code uses it (O14): from the next call on, all tool calls are denied,
// and in the next turn the skill can no longer be activated: its link is gone, which Claude Code may not have noticed
// yet. Refusals are in the audit log (O10, O24).
func TestClaudeDeny(t *testing.T) {
	t.Parallel()
	npmProgram(t, "SKILLPM_CLAUDE")
	w := newDesk(t)
	w.installLimited("claude-code")
	w.run("skillpm", "connect", "claude-code", "--no-mcp")
	model := mockmodel.New(t, mockmodel.Script{"main": {
		activate("reader"), read(w),
		{Decide: func(mockmodel.Request) mockmodel.Step {
			w.run("skillpm", "deny", "reader")
			return read(w)
		}},
		mockmodel.Say("I can't go on."), activate("reader"), touch("after"),
	}})
	claude(w, model, "[main] Read the notes.", "Once more.")
	results := model.Results("main")
	if len(results) != 5 {
		t.Fatalf("%d calls: %+v", len(results), results)
	}
	isUnknown := strings.Contains(results[3].Text, "Unknown skill: reader")
	for i, refused := range []bool{false, false, true, true, false} {
		r := results[i]
		if r.Error != refused {
			t.Errorf("call %d of %s is refused: %v: %s", i, r.Tool, r.Error, r.Text)
		}
		if refused && !(i == 3 && isUnknown) && (!strings.Contains(r.Text, "reader") || !strings.Contains(r.Text, "denied")) {
			t.Errorf("the refusal of call %d does not say why: %s", i, r.Text)
		}
	}
	if !w.exists("after") {
		t.Error("without a skill there is nothing to refuse")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(w.run("skillpm", "log", "--json"))); err != nil {
		t.Fatal(err)
	}
	log := compact.String()
	wants := []string{
		`"action":"refuse","result":"denied","skill":"limited:reader"`, `"tool":"Read"`, `"host":"claude-code"`,
	}
	if !isUnknown {
		wants = append(wants, `"action":"activate","result":"denied","skill":"limited:reader","pack":"acme/limited"`)
	}
	for _, want := range wants {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log has no %s:\n%s", want, log)
		}
	}
}
