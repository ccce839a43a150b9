//go:build slow

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// openCodeConfig selects the scripted model, and lets every tool run.
const openCodeConfig = `{"model": "scripted/scripted", "small_model": "scripted/scripted", "permission": {"*": "allow"}, "provider": {
  "scripted": {"npm": "@ai-sdk/anthropic", "name": "Scripted", "options": {"baseURL": "%s/v1", "apiKey": "none"},
    "models": {"scripted": {"name": "Scripted", "limit": {"context": 200000, "output": 8000}}}}}}
`

// opencode plays a session of OpenCode at a desk: one prompt after the other, the later ones in the continued session. A
// prompt /NAME ARGUMENTS runs a command. OpenCode lists the files of a skill with rg, and installs the types of plugins
// from a package registry, which a desk does not reach.
func opencode(w *desk, model *mockmodel.Server, prompts ...string) {
	w.t.Helper()
	w.write("opencode.json", fmt.Sprintf(openCodeConfig, model.URL))
	w.write("../bin/rg", "#!/bin/sh\nexit 1\n")
	path := ""
	for _, v := range w.env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			path = rest
		}
	}
	w.env = append(w.env, "PATH="+w.project+"/../bin:"+path, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "npm_config_offline=true")
	for i, prompt := range prompts {
		line := append(npmProgram(w.t, "SKILLPM_OPENCODE"), "run", "--title", "A session")
		if i > 0 {
			line = append(line, "--continue")
		}
		if rest, ok := strings.CutPrefix(prompt, "/"); ok {
			command, arguments, _ := strings.Cut(rest, " ")
			w.run(append(line, "--command", command, arguments)...)
		} else {
			w.run(append(line, prompt)...)
		}
	}
}

// openCodeBash is a step that runs a command with OpenCode's tool.
func openCodeBash(command string) mockmodel.Step {
	return mockmodel.Use("bash", map[string]any{"command": command, "description": "leave a mark"})
}

func openCodeSkill(name string) mockmodel.Step {
	return mockmodel.Use("skill", map[string]any{"name": name})
}

// TestOpenCodeHooks is TestClaudeHooks for OpenCode (O10, O26), whose hooks are a plugin that skillpm writes.
func TestOpenCodeHooks(t *testing.T) {
	read := func(w *desk) mockmodel.Step {
		return mockmodel.Use("read", map[string]any{"filePath": w.project + "/notes.txt"})
	}
	program := agentProgram{
		variable: "SKILLPM_OPENCODE", agent: "opencode", host: "opencode", play: opencode,
		refusal: func(r mockmodel.Result) bool { return strings.Contains(r.Text, "the restriction applies until") },
	}
	program.tryHooks(t, []hookStory{
		{
			name:    "the skill tool, until the next prompt",
			prompts: []string{"[main] Read the notes.", "And now write."},
			script: func(w *desk) mockmodel.Script {
				return mockmodel.Script{"main": {
					openCodeBash("touch before"), openCodeSkill("reader"), openCodeBash("touch during"), read(w),
					openCodeBash("cat notes.txt"), mockmodel.Say("I read it."), openCodeBash("touch after"), mockmodel.Say("I wrote it."),
				}}
			},
			refused: []string{"during"}, ran: []string{"before", "after"}, replies: []string{"bash", "reader"},
		},
		{
			name:    "a slash command",
			prompts: []string{"/reader [main] notes.txt", "And now write."},
			script: func(w *desk) mockmodel.Script {
				return mockmodel.Script{"main": {openCodeBash("touch during"), read(w), mockmodel.Say("I read it."), openCodeBash("touch after")}}
			},
			refused: []string{"during"}, ran: []string{"after"}, replies: []string{"bash", "reader"},
		},
		{
			name:    "a subagent inherits, and adds its own",
			prompts: []string{"[main] Have the notes read.", "And now write."},
			script: func(w *desk) mockmodel.Script {
				task := map[string]any{"description": "read the notes", "prompt": "[sub] Read the notes.", "subagent_type": "general"}
				return mockmodel.Script{
					"main": {openCodeSkill("delegate"), mockmodel.Use("task", task), openCodeBash("touch main-during"), mockmodel.Say("It was read."), openCodeBash("touch after")},
					"sub":  {openCodeBash("touch sub-during"), openCodeSkill("reader"), read(w), mockmodel.Say("I read it.")},
				}
			},
			refused: []string{"sub-during", "main-during"}, ran: []string{"after"}, replies: []string{"bash", "delegate"},
		},
	})
}

// TestOpenCodeClosed checks O26 for OpenCode: without skillpm, or if it fails, no tool call runs, unless the user chose
// otherwise.
func TestOpenCodeClosed(t *testing.T) {
	for name, closed := range map[string]bool{"fails": true, "fails, open": false, "absent": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			npmProgram(t, "SKILLPM_OPENCODE")
			w := newDesk(t)
			if name != "absent" {
				w.write("../home/broken/skillpm", "#!/bin/sh\nexit 1\n")
			}
			w.run("skillpm", "connect", "opencode", "--no-mcp", "--command", w.home+"/broken/skillpm", fmt.Sprintf("--fail-closed=%v", closed))
			model := mockmodel.New(t, mockmodel.Script{"main": {openCodeBash("touch mark"), mockmodel.Say("I tried.")}})
			opencode(w, model, "[main] Leave a mark.")
			if w.exists("mark") == closed {
				t.Errorf("closed %v, and the mark is there: %v; %+v", closed, w.exists("mark"), model.Results("main"))
			}
			if results := model.Results("main"); closed && !strings.Contains(results[0].Text, "skillpm does not answer") {
				t.Errorf("the model is told %q", results[0].Text)
			}
		})
	}
}

// TestOpenCodeDenied checks O10 for OpenCode: a skill that a policy denies gives the model the reason instead of the
// skill's instructions, even if the user starts the skill.
func TestOpenCodeDenied(t *testing.T) {
	t.Parallel()
	npmProgram(t, "SKILLPM_OPENCODE")
	w := newDesk(t)
	w.write(".agents/skills/manual/SKILL.md", "---\nname: manual\ndescription: Does work.\n---\nDo what the user asks.\n")
	w.run("skillpm", "connect", "opencode", "--no-mcp")
	w.write("../home/.config/skillpm/policy.yaml", "version: 1\nmode: enforce\nskills: {deny: [manual]}\n")
	model := mockmodel.New(t, mockmodel.Script{})
	opencode(w, model, "/manual now")
	if body := string(model.Requests("")[0].Body); strings.Contains(body, "Do what the user asks") || !strings.Contains(body, "policy") {
		t.Errorf("the model is given %s", body)
	}
}

// TestOpenCodeListing checks S2 for OpenCode: the plugin hides skills that only users may start, which OpenCode itself
// lists and loads, and users can still start them.
func TestOpenCodeListing(t *testing.T) {
	t.Parallel()
	npmProgram(t, "SKILLPM_OPENCODE")
	w := newDesk(t)
	w.installLimited("opencode")
	w.write(".agents/skills/manual/SKILL.md",
		"---\nname: manual\ndescription: Only users start this.\ndisable-model-invocation: true\nallowed-tools: Read\n---\nDo what the user asks. $ARGUMENTS\n")
	w.run("skillpm", "connect", "opencode", "--no-mcp")
	model := mockmodel.New(t, mockmodel.Script{"main": {openCodeSkill("manual"), mockmodel.Say("I tried."), openCodeBash("touch during")}})
	opencode(w, model, "[main] Use the skill manual.", "/manual now")
	first := model.Requests("main")[0].SystemText()
	if strings.Contains(first, "Only users start this.") || !strings.Contains(first, "Reads what it is told to read") {
		t.Errorf("the listing of skills:\n%s", first)
	}
	results := model.Results("main")
	if len(results) != 2 || strings.Contains(results[0].Text, "Do what the user asks") {
		t.Errorf("the model loads the skill: %+v", results)
	}
	if w.exists("during") || !strings.Contains(results[1].Text, "manual") {
		t.Errorf("the skill that the user started does not restrict: %+v", results)
	}
}
