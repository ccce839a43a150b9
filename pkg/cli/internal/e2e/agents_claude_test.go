//go:build slow

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// claude plays a session of Claude Code at a desk: one prompt after the other, each sent when the agent has finished
// the previous one.
func claude(w *desk, model *mockmodel.Server, prompts ...string) {
	w.t.Helper()
	claudeOf("SKILLPM_CLAUDE")(w, model, prompts...)
}

// claudeOf is claude with the program that a variable names.
func claudeOf(variable string) func(*desk, *mockmodel.Server, ...string) {
	return func(w *desk, model *mockmodel.Server, prompts ...string) {
		w.t.Helper()
		line := append(npmProgram(w.t, variable), "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
			"--permission-mode", "bypassPermissions", "--model", "claude-sonnet-4-5")
		cmd := exec.CommandContext(w.t.Context(), line[0], line[1:]...)
		cmd.Dir = w.project
		cmd.Env = append(w.env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"IS_SANDBOX=1") // what may be bypassed as root only in a sandbox, as this is one
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			w.t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			w.t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			w.t.Fatal(err)
		}
		events := json.NewDecoder(bufio.NewReader(out))
		for _, prompt := range prompts {
			message := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": prompt}}
			if err := json.NewEncoder(in).Encode(message); err != nil {
				w.t.Errorf("%v\n%s", err, &stderr)
			}
			if result := finish(w.t, events); result != "success" {
				w.t.Errorf("the answer to %q ends with %s\n%s", prompt, result, &stderr)
			}
		}
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out) // what is said after the last answer
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("%v\n%s", err, &stderr)
		}
	}
}

// finish reads the output of Claude Code until an answer is complete, and returns how it ended.
func finish(t *testing.T, events *json.Decoder) string {
	t.Helper()
	for {
		var event struct{ Type, Subtype string }
		if err := events.Decode(&event); err != nil {
			return err.Error()
		}
		if event.Type == "result" {
			return event.Subtype
		}
	}
}

// touch is a step that leaves a mark in the project if it runs.
func touch(mark string) mockmodel.Step {
	return mockmodel.Use("Bash", map[string]any{"command": "touch " + mark, "description": "leave a mark"})
}

// activate is a step that activates a skill with Claude Code's own tool.
func activate(skill string) mockmodel.Step {
	return mockmodel.Use("Skill", map[string]any{"skill": skill})
}

// read is a step that reads the notes.
func read(w *desk) mockmodel.Step {
	return mockmodel.Use("Read", map[string]any{"file_path": w.project + "/notes.txt"})
}

// TestClaudeHooks plays sessions of two versions of Claude Code (O10, O26). Without skillpm, Claude Code treats
// allowed-tools as a grant and runs every call that these sessions try.
func TestClaudeHooks(t *testing.T) {
	for variable := range claudeVersions {
		t.Run(variable, func(t *testing.T) {
			program := agentProgram{
				variable: variable, agent: "claude-code", host: "claude-code", play: claudeOf(variable),
				refusal: func(r mockmodel.Result) bool { return r.Error },
			}
			program.tryHooks(t, claudeStories())
		})
	}
}

// claudeStories are sessions of Claude Code.
func claudeStories() []hookStory {
	return []hookStory{
		{
			name:    "the Skill tool, until the next prompt",
			prompts: []string{"[main] Read the notes.", "And now write."},
			script: func(w *desk) mockmodel.Script {
				return mockmodel.Script{"main": {
					touch("before"), activate("reader"), touch("during"), read(w), mockmodel.Say("I read it."), touch("after"), mockmodel.Say("I wrote it."),
				}}
			},
			refused: []string{"during"}, ran: []string{"before", "after"}, replies: []string{"Bash", "reader"},
		},
		{
			name:    "one message with a skill and a tool",
			prompts: []string{"[main] Read the notes."},
			script: func(w *desk) mockmodel.Script {
				return mockmodel.Script{"main": {{Calls: append(activate("reader").Calls, touch("at-once").Calls...)}, read(w)}}
			},
			refused: []string{"at-once"}, replies: []string{"Bash", "reader"},
		},
		{
			name:    "a slash command",
			prompts: []string{"/reader [main] notes.txt", "And now write."},
			script: func(w *desk) mockmodel.Script {
				return mockmodel.Script{"main": {touch("during"), read(w), mockmodel.Say("I read it."), touch("after")}}
			},
			refused: []string{"during"}, ran: []string{"after"}, replies: []string{"Bash", "reader"},
		},
		{
			name:    "a subagent inherits, and adds its own",
			prompts: []string{"[main] Have the notes read.", "And now write."},
			script: func(w *desk) mockmodel.Script {
				agent := map[string]any{"description": "read the notes", "prompt": "[sub] Read the notes.", "subagent_type": "general-purpose"}
				return mockmodel.Script{
					"main": {activate("delegate"), mockmodel.Use("Agent", agent), touch("main-during"), mockmodel.Say("It was read."), touch("after")},
					"sub":  {touch("sub-during"), activate("reader"), read(w), mockmodel.Say("I read it.")},
				}
			},
			refused: []string{"sub-during", "main-during"}, ran: []string{"after"}, replies: []string{"Bash", "delegate"},
		},
		{
			name:    "a forked skill binds its fork",
			prompts: []string{"[main] Have the notes read."},
			script: func(w *desk) mockmodel.Script {
				return mockmodel.Script{
					"main": {activate("apart"), touch("main-after"), mockmodel.Say("It was read.")},
					"fork": {touch("fork-during"), read(w), mockmodel.Say("I read it.")},
				}
			},
			refused: []string{"fork-during"}, ran: []string{"main-after"}, replies: []string{"Bash", "apart"},
		},
	}
}
