//go:build slow

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// TestAgentsParallelCalls checks SPEC O10: of eight calls in the message that also activates a skill, none runs that the
// skill does not allow, although agents run the hooks of calls in one message at the same time.
func TestAgentsParallelCalls(t *testing.T) {
	marks := make([]string, 8)
	for i := range marks {
		marks[i] = fmt.Sprintf("during%d", i)
	}
	together := func(activate, read mockmodel.Step, mark func(string) mockmodel.Step) func(*desk) mockmodel.Script {
		return func(*desk) mockmodel.Script {
			message := mockmodel.Step{Calls: activate.Calls}
			for _, name := range marks {
				message.Calls = append(message.Calls, mark("touch "+name).Calls...)
			}
			return mockmodel.Script{"main": {message, read, mockmodel.Say("I read it.")}}
		}
	}
	for _, p := range []struct {
		program agentProgram
		script  func(*desk) mockmodel.Script
		replies []string
	}{
		{
			agentProgram{
				variable: "SKILLPM_CODEX", agent: "codex", host: "codex", play: codex,
				refusal: func(r mockmodel.Result) bool { return strings.Contains(r.Text, " blocked by PreToolUse hook: ") },
			},
			together(shell("cat .agents/skills/cats/SKILL.md"), shell("cat notes.txt"), shell), []string{"cats"},
		},
		{
			agentProgram{
				variable: "SKILLPM_GEMINI", agent: "gemini-cli", host: "gemini", play: gemini,
				refusal: func(r mockmodel.Result) bool { return strings.Contains(r.Text, "Tool execution blocked: ") },
			},
			together(mockmodel.Use("activate_skill", map[string]any{"name": "reader"}),
				mockmodel.Use("read_file", map[string]any{"file_path": "notes.txt"}), func(line string) mockmodel.Step {
					return mockmodel.Use("run_shell_command", map[string]any{"command": line, "description": "leave a mark"})
				}), []string{"reader"},
		},
	} {
		p.program.tryHooks(t, []hookStory{{
			name: p.program.agent, prompts: []string{"[main] Read the notes."}, script: p.script, refused: marks, replies: p.replies,
		}})
	}
}
