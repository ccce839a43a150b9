//go:build slow

package e2e

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// copilot plays a session of Copilot CLI in a trusted desk, without GitHub. Later prompts continue the session.
func copilot(w *desk, model *mockmodel.Server, prompts ...string) {
	w.t.Helper()
	w.env = append(w.env, "COPILOT_PROVIDER_BASE_URL="+model.URL, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=none",
		"COPILOT_MODEL=claude-sonnet-4.5", "COPILOT_OFFLINE=true", "COPILOT_ALLOW_ALL=true")
	for i, prompt := range prompts {
		line := append(npmProgram(w.t, "SKILLPM_COPILOT"), "--prompt", prompt)
		if i > 0 {
			line = append(line, "--continue")
		}
		w.run(line...)
	}
}

// TestCopilotHooks is TestClaudeHooks for Copilot CLI (O10, O26), with its own hooks and with those of Claude Code,
// which it also runs.
func TestCopilotHooks(t *testing.T) {
	command := func(line string) mockmodel.Step {
		return mockmodel.Use("bash", map[string]any{"command": line, "description": "leave a mark"})
	}
	skill := func(name string) mockmodel.Step { return mockmodel.Use("skill", map[string]any{"skill": name}) }
	read := func(w *desk) mockmodel.Step {
		return mockmodel.Use("view", map[string]any{"path": w.project + "/notes.txt"})
	}
	stories := []hookStory{
		{
			name:    "the skill tool, until the next prompt",
			prompts: []string{"[main] Read the notes.", "And now write."},
			script: func(w *desk) mockmodel.Script {
				return mockmodel.Script{"main": {
					command("touch before"), skill("reader"), command("touch during"), read(w), mockmodel.Say("I read it."), command("touch after"), mockmodel.Say("I wrote it."),
				}}
			},
			refused: []string{"during"}, ran: []string{"before", "after"}, replies: []string{"Bash", "reader"},
		},
		{
			name:    "a subagent inherits",
			prompts: []string{"[main] Have the notes read."},
			script: func(w *desk) mockmodel.Script {
				agent := map[string]any{"description": "read the notes", "prompt": "[sub] Read the notes.", "agent_type": "general-purpose", "name": "reader", "mode": "sync"}
				return mockmodel.Script{
					"main": {skill("delegate"), mockmodel.Use("task", agent), command("touch main-during"), mockmodel.Say("It was read.")},
					"sub":  {command("touch sub-during"), read(w), mockmodel.Say("I read it.")},
				}
			},
			refused: []string{"sub-during", "main-during"}, replies: []string{"Bash", "delegate"},
		},
	}
	for _, host := range []string{"copilot", "claude-code"} {
		t.Run(host, func(t *testing.T) {
			program := agentProgram{
				variable: "SKILLPM_COPILOT", agent: "github-copilot", host: host, play: copilot, again: host != "copilot",
				refusal: func(r mockmodel.Result) bool { return strings.HasPrefix(r.Text, "Denied by preToolUse hook: ") },
			}
			program.tryHooks(t, stories)
		})
	}
}
