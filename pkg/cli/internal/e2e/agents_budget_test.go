//go:build slow

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// TestAgentsBudget compares what skillpm budget computes of the lists of real agents with what the agents send to their
// models: how many names and whole descriptions there are.
func TestAgentsBudget(t *testing.T) {
	lengths := map[string]func(i int) int{
		"few":   func(int) int { return 300 },
		"many":  func(int) int { return 300 },
		"mixed": func(i int) int { return []int{900, 60, 60, 60}[i%4] },
	}
	for _, agent := range []agentProgram{
		{variable: "SKILLPM_CLAUDE_NEW", agent: "claude-code", play: claudeOf("SKILLPM_CLAUDE_NEW")},
		{variable: "SKILLPM_CODEX", agent: "codex", play: codex},
		{variable: "SKILLPM_COPILOT", agent: "copilot", play: copilot},
		{variable: "SKILLPM_GEMINI", agent: "gemini", play: gemini},
		{variable: "SKILLPM_OPENCODE", agent: "opencode", play: opencode},
	} {
		for kind, n := range map[string]int{"few": 3, "mixed": 32, "many": 200} {
			t.Run(agent.agent+"/"+kind, func(t *testing.T) {
				t.Parallel()
				npmProgram(t, agent.variable)
				w := newDesk(t, "GEMINI_CLI_TRUST_WORKSPACE=true")
				dir := ".agents"
				if agent.agent == "claude-code" {
					dir = ".claude"
				}
				for i := range n {
					description := fmt.Sprintf("Number %d. %s", i, strings.Repeat("alpha beta gamma delta ", 100))
					end := fmt.Sprintf(" END-%04d", i)
					w.write(fmt.Sprintf("%s/skills/skill-%04d/SKILL.md", dir, i), fmt.Sprintf("---\nname: skill-%04d\ndescription: %s\n---\nx\n", i,
						description[:lengths[kind](i)-len(end)]+end))
				}
				var cost struct {
					Agents []struct {
						Lists []struct {
							Tokens          int
							Left, Shortened []string
						}
					}
				}
				if err := json.Unmarshal([]byte(w.run("skillpm", "budget", "--agent", agent.agent, "--json")), &cost); err != nil {
					t.Fatal(err)
				}
				list := cost.Agents[0].Lists[0]
				model := mockmodel.New(t, mockmodel.Script{"main": {mockmodel.Say("I see.")}})
				agent.play(w, model, "[main] Look around.")
				text := model.Requests("main")[0].SystemText()
				names, whole := 0, 0
				for i := range n {
					if strings.Contains(text, fmt.Sprintf("skill-%04d", i)) {
						names++
					}
					if strings.Contains(text, fmt.Sprintf("END-%04d", i)) {
						whole++
					}
				}
				t.Logf("%d names, %d descriptions; computed: %d left out, %d shortened, %d tokens", names, whole, len(list.Left), len(list.Shortened), list.Tokens)
				const some = 2
				if off := n - len(list.Left) - names; off < -some || off > some {
					t.Errorf("the model sees %d names, not %d", names, n-len(list.Left))
				}
				if off := n - len(list.Left) - len(list.Shortened) - whole; off < -some || off > some {
					t.Errorf("the model sees %d whole descriptions, not %d", whole, n-len(list.Left)-len(list.Shortened))
				}
			})
		}
	}
}
