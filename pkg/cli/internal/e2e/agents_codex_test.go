//go:build slow

package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// codex plays a session of Codex at a desk: one prompt after the other, the later ones in the resumed session. Codex
// runs hooks from a file only after the user has reviewed them with /hooks in a terminal. The tests disable that check.
const codexConfig = `model = "gpt-5.4"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
[projects.%q]
trust_level = "trusted"
`

// shell is a step that runs a command with Codex's tool.
func codex(w *desk, model *mockmodel.Server, prompts ...string) {
	w.t.Helper()
	program := npmProgram(w.t, "SKILLPM_CODEX")
	w.write("../home/.codex/config.toml", fmt.Sprintf(codexConfig, model.URL, w.project))
	w.env = append(w.env, "SCRIPTED_KEY=none")
	for i, prompt := range prompts {
		line := append(program, "exec")
		if i > 0 {
			line = append(line, "resume", "--last")
		}
		w.run(append(line, "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", prompt)...)
	}
}

// shell is a step that runs a command by Codex's tool.
func shell(command string) mockmodel.Step {
	return mockmodel.Use("exec_command", map[string]any{"cmd": command})
}

// TestCodexHooks is TestClaudeHooks for Codex (O10, O26), which does not have a tool for skills: its model reads
// SKILL.md, or the user writes $NAME and Codex adds the skill to the conversation.
func TestCodexHooks(t *testing.T) {
	program := agentProgram{
		variable: "SKILLPM_CODEX", agent: "codex", host: "codex", play: codex,
		refusal: func(r mockmodel.Result) bool {
			return strings.Contains(r.Text, " blocked by PreToolUse hook: ")
		},
	}
	program.tryHooks(t, []hookStory{
		{
			name:    "SKILL.md is read, until the next prompt",
			prompts: []string{"[main] Read the notes.", "And now write."},
			script: func(*desk) mockmodel.Script {
				return mockmodel.Script{"main": {
					shell("touch before"), shell("cat .agents/skills/cats/SKILL.md"), shell("touch during"), shell("cat notes.txt"),
					mockmodel.Say("I read it."), shell("touch after"), mockmodel.Say("I wrote it."),
				}}
			},
			refused: []string{"during"}, ran: []string{"before", "after"}, replies: []string{"Bash", "cats"},
		},
		{
			name:    "a mention by the user",
			prompts: []string{"[main] Please use $cats for the notes.", "And now write."},
			script: func(*desk) mockmodel.Script {
				return mockmodel.Script{"main": {
					shell("touch during"), shell("cat notes.txt"), mockmodel.Say("I read it."), shell("touch after"), mockmodel.Say("I wrote it."),
				}}
			},
			refused: []string{"during"}, ran: []string{"after"}, replies: []string{"Bash", "cats"},
		},
		{
			name:    "a subagent inherits",
			prompts: []string{"[main] Please use $team for the notes."},
			script: func(*desk) mockmodel.Script {
				agent := map[string]any{"message": "[sub] Read the notes.", "agent_type": "default"}
				return mockmodel.Script{
					"main": {mockmodel.Use("multi_agent_v1.spawn_agent", agent), {Decide: waitForAgent}, shell("touch main-during")},
					"sub":  {shell("touch sub-during"), shell("cat notes.txt"), mockmodel.Say("I read it.")},
				}
			},
			refused: []string{"sub-during", "main-during"}, replies: []string{"Bash", "team"},
		},
	})
}

// waitForAgent is a step that waits for the agent that was started last.
func waitForAgent(r mockmodel.Request) mockmodel.Step {
	started := r.Results[len(r.Results)-1].Text // {"agent_id":"…","nickname":"…"}
	_, rest, _ := strings.Cut(started, `"agent_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return mockmodel.Use("multi_agent_v1.wait_agent", map[string]any{"targets": []string{id}, "timeout_ms": 20000})
}

// TestCodexTyping shows what hooks cannot restrict in Codex: the model types into a running shell without a hook event.
// The hook does see the call that starts a shell, so a skill that allows no shell cannot start one, but a shell from
// before its activation stays.
func TestCodexTyping(t *testing.T) {
	t.Parallel()
	npmProgram(t, "SKILLPM_CODEX")
	w := newDesk(t)
	w.installLimited("codex")
	w.run("skillpm", "connect", "codex", "--no-mcp")
	start := func(r mockmodel.Request) mockmodel.Step {
		_, rest, _ := strings.Cut(r.Results[0].Text, "Process running with session ID ")
		number, _, _ := strings.Cut(rest, "\n")
		session, err := strconv.Atoi(number)
		if err != nil {
			t.Errorf("no shell runs: %s", r.Results[0].Text)
		}
		return mockmodel.Use("write_stdin", map[string]any{"session_id": session, "chars": "touch typed; exit\n", "yield_time_ms": 2000})
	}
	open := mockmodel.Use("exec_command", map[string]any{"cmd": "sh", "tty": true, "yield_time_ms": 250})
	model := mockmodel.New(t, mockmodel.Script{"main": {open, shell("cat .agents/skills/cats/SKILL.md"), open, {Decide: start}, shell("touch during")}})
	codex(w, model, "[main] Read the notes.")
	results := model.Results("main")
	if len(results) != 5 || !strings.Contains(results[2].Text, "blocked by PreToolUse hook") || w.exists("during") {
		t.Errorf("another shell is started: %+v", results)
	}
	if !w.exists("typed") {
		t.Errorf("Codex asks about typing now: say so in docs/reference/agents.md, and hold it: %+v", results)
	}
}
