//go:build slow

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// agentProgram is a real agent whose hooks are tested.
type agentProgram struct {
	variable string                                    // names the program
	agent    string                                    // its name for install --agent
	host     string                                    // its name for connect
	play     func(*desk, *mockmodel.Server, ...string) // plays a session, prompt after prompt
	refusal  func(mockmodel.Result) bool               // tells a refusal from what a tool answers
	again    bool                                      // the same sessions are played without hooks elsewhere
}

// hookStory is a session that activates skills and tries tools that they do not allow. Each tool call leaves a mark in
// the project if it runs.
type hookStory struct {
	name    string
	prompts []string
	script  func(w *desk) mockmodel.Script
	refused []string // marks that are left without hooks only
	ran     []string // marks that are left always
	replies []string // what the refusals name
}

// tryHooks plays the stories with the hooks that connect writes: calls that the skills do not allow do not run, and the
// model receives the reason. The same sessions without hooks run these calls, which shows that the tests can fail.
func (a agentProgram) tryHooks(t *testing.T, stories []hookStory) {
	for _, story := range stories {
		for _, hooks := range []bool{true, false} {
			if a.again && !hooks {
				continue
			}
			t.Run(story.name+map[bool]string{true: "", false: ", without hooks"}[hooks], func(t *testing.T) {
				t.Parallel()
				npmProgram(t, a.variable)
				w := newDesk(t)
				w.installLimited(a.agent)
				if hooks {
					w.run("skillpm", "connect", a.host, "--no-mcp")
				}
				script := story.script(w)
				model := mockmodel.New(t, script)
				a.play(w, model, story.prompts...)
				var results []mockmodel.Result
				for conversation := range script {
					results = append(results, model.Results(conversation)...)
				}
				story.assert(w, hooks, a.refused(results))
				if !wasTold(results, "what was noted") {
					t.Errorf("hooks %v: what is allowed did not run: %+v", hooks, results)
				}
				if replies := model.Requests("main")[0].SystemText(); !strings.Contains(replies, "Reads what it is told to read, and nothing else.") {
					t.Errorf("the model is not told of the skill that was installed:\n%s", replies)
				}
			})
		}
	}
}

// assert requires that refused calls leave no marks with hooks and all marks without them, and that the refusals state
// the reason.
func (s hookStory) assert(w *desk, hooks bool, said string) {
	w.t.Helper()
	for _, mark := range s.refused {
		if w.exists(mark) == hooks {
			w.t.Errorf("hooks %v, and the mark %s is there: %v; refused: %s", hooks, mark, w.exists(mark), said)
		}
	}
	for _, mark := range s.ran {
		if !w.exists(mark) {
			w.t.Errorf("hooks %v: the mark %s is not there; refused: %s", hooks, mark, said)
		}
	}
	for _, want := range s.replies {
		if strings.Contains(said, want) != hooks {
			w.t.Errorf("hooks %v: the model was told %q, about %s", hooks, said, want)
		}
	}
}

// refused is what the model received for the refused calls.
func (a agentProgram) refused(results []mockmodel.Result) string {
	var said []string
	for _, r := range results {
		if a.refusal(r) {
			said = append(said, r.Tool+": "+r.Text)
		}
	}
	return strings.Join(said, "\n")
}

// wasTold reports whether a result contains the words.
func wasTold(results []mockmodel.Result, words string) bool {
	for _, r := range results {
		if strings.Contains(r.Text, words) {
			return true
		}
	}
	return false
}

// TestAgentsFailClosed makes the hook program fail: real agents run the call, or deny it if the hooks were installed to
// fail closed. Copilot CLI always denies it.
func TestAgentsFailClosed(t *testing.T) {
	for _, client := range mcpClients() {
		for _, closed := range []bool{true, false} {
			t.Run(fmt.Sprint(client.host, " ", closed), func(t *testing.T) {
				t.Parallel()
				npmProgram(t, client.variable)
				w := newDesk(t)
				w.write("../home/broken/skillpm", "#!/bin/sh\nexit 1\n")
				w.run("skillpm", "connect", client.host, "--no-mcp", "--command", w.home+"/broken/skillpm", fmt.Sprintf("--fail-closed=%v", closed))
				model := mockmodel.New(t, mockmodel.Script{"main": {client.shell("touch mark"), mockmodel.Say("I tried.")}})
				client.play(w, model, "[main] Leave a mark.")
				results := model.Results("main")
				if w.exists("mark") == (closed || client.strict) || len(results) != 1 {
					t.Errorf("closed %v, and the mark is there: %v; %+v", closed, w.exists("mark"), results)
				}
			})
		}
	}
}

// limitedSkills is a pack of skills that restrict tools in different ways.
var limitedSkills = map[string]string{
	"pack/skillpm.yaml": "name: acme/limited\nversion: 1.0.0\n",
	"pack/skills/reader/SKILL.md": `---
name: reader
description: Reads what it is told to read, and nothing else.
allowed-tools: Read
---
Read the file that you are told, word by word: $ARGUMENTS
`,
	"pack/skills/delegate/SKILL.md": `---
name: delegate
description: Lets others read.
allowed-tools: Read Agent Skill
---
Ask another agent to read it.
`,
	"pack/skills/apart/SKILL.md": `---
name: apart
description: Reads in a conversation of its own.
allowed-tools: Read
context: fork
---
[fork] Read what is there.
`,
	"pack/skills/cats/SKILL.md": `---
name: cats
description: Shows files, and nothing else.
allowed-tools: Bash(cat *)
---
Show the file with cat.
`,
	"pack/skills/team/SKILL.md": `---
name: team
description: Has files shown by others.
allowed-tools: Bash(cat *) Task multi_agent_v1wait_agent
---
Have another agent show the file with cat.
`,
	"notes.txt": "what was noted\n",
}

// installLimited installs those skills for an agent.
func (w *desk) installLimited(agent string) {
	w.t.Helper()
	for name, content := range limitedSkills {
		w.write(name, content)
	}
	w.run("skillpm", "install", "./pack", "--agent", agent)
}
