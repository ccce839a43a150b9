//go:build slow

package e2e

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// gemini plays a session of Gemini CLI in a trusted desk. Without a terminal it answers one prompt.
func gemini(w *desk, model *mockmodel.Server, prompts ...string) {
	w.t.Helper()
	if len(prompts) != 1 {
		w.t.Fatalf("%d prompts", len(prompts))
	}
	w.env = append(w.env, "GOOGLE_GEMINI_BASE_URL="+model.URL, "GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false")
	w.write("../home/.gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`)
	w.run(append(npmProgram(w.t, "SKILLPM_GEMINI"), "--yolo", "--model", "gemini-2.5-pro", "--prompt", prompts[0])...)
}

// TestGeminiHooks is TestClaudeHooks for Gemini CLI (O10, O26), which does not distinguish a subagent's calls from its
// own.
func TestGeminiHooks(t *testing.T) {
	program := agentProgram{
		variable: "SKILLPM_GEMINI", agent: "gemini-cli", host: "gemini", play: gemini,
		refusal: func(r mockmodel.Result) bool { return strings.Contains(r.Text, "Tool execution blocked: ") },
	}
	command := func(line string) mockmodel.Step {
		return mockmodel.Use("run_shell_command", map[string]any{"command": line, "description": "leave a mark"})
	}
	skill := func(name string) mockmodel.Step { return mockmodel.Use("activate_skill", map[string]any{"name": name}) }
	read := mockmodel.Use("read_file", map[string]any{"file_path": "notes.txt"})
	program.tryHooks(t, []hookStory{
		{
			name:    "the tool activate_skill",
			prompts: []string{"[main] Read the notes."},
			script: func(*desk) mockmodel.Script {
				return mockmodel.Script{"main": {command("touch before"), skill("reader"), command("touch during"), read, mockmodel.Say("I read it.")}}
			},
			refused: []string{"during"}, ran: []string{"before"}, replies: []string{"Bash", "reader"},
		},
		{
			name:    "a subagent inherits",
			prompts: []string{"[main] Have the notes read."},
			script: func(*desk) mockmodel.Script {
				agent := map[string]any{"agent_name": "generalist", "prompt": "[sub] Read the notes."}
				return mockmodel.Script{
					"main": {skill("delegate"), mockmodel.Use("invoke_agent", agent), command("touch main-during"), mockmodel.Say("It was read.")},
					"sub":  {command("touch sub-during"), read, mockmodel.Use("complete_task", map[string]any{"result": map[string]any{}})},
				}
			},
			refused: []string{"sub-during", "main-during"}, replies: []string{"Bash", "delegate"},
		},
	})
}
