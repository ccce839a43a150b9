//go:build slow

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// skillAgent is a real agent that reads installed skills, and how its model uses them.
type skillAgent struct {
	agentProgram
	use func(skill string) mockmodel.Step
	run func(command string) mockmodel.Step
}

// skillAgents are those that a scripted model can drive.
func skillAgents() []skillAgent {
	call := func(tool, field string, more ...any) func(string) mockmodel.Step {
		return func(value string) mockmodel.Step {
			input := map[string]any{field: value}
			for i := 0; i < len(more); i += 2 {
				input[more[i].(string)] = more[i+1]
			}
			return mockmodel.Use(tool, input)
		}
	}
	return []skillAgent{
		{
			agentProgram{variable: "SKILLPM_CLAUDE", agent: "claude-code", host: "claude-code", play: claude},
			activate, call("Bash", "command", "description", "run it"),
		},
		{
			agentProgram{variable: "SKILLPM_CODEX", agent: "codex", host: "codex", play: codex},
			func(skill string) mockmodel.Step { return shell("cat .agents/skills/" + skill + "/SKILL.md") }, shell,
		},
		{
			agentProgram{variable: "SKILLPM_GEMINI", agent: "gemini-cli", host: "gemini", play: gemini},
			call("activate_skill", "name"), call("run_shell_command", "command", "description", "run it"),
		},
		{
			agentProgram{variable: "SKILLPM_COPILOT", agent: "github-copilot", host: "copilot", play: copilot},
			call("skill", "skill"), call("bash", "command", "description", "run it"),
		},
	}
}

// eachSkillAgent runs a test with each agent.
func eachSkillAgent(t *testing.T, test func(t *testing.T, a skillAgent)) {
	t.Helper()
	for _, a := range skillAgents() {
		t.Run(a.agent, func(t *testing.T) {
			t.Parallel()
			npmProgram(t, a.variable)
			test(t, a)
		})
	}
}

// touch is a step that leaves a mark in the project if it runs.
func (a skillAgent) touch(mark string) mockmodel.Step { return a.run("touch " + mark) }

// installSkills writes a pack of skills by name and frontmatter, and installs it for the agent, with the agent's hooks.
func (w *desk) installSkills(a skillAgent, skills map[string]string) {
	w.t.Helper()
	w.write("pack/skillpm.yaml", "name: acme/pack\nversion: 1.0.0\n")
	for name, front := range skills {
		w.writeSkill("pack", name, front, "Body of "+name+".")
	}
	w.run("skillpm", "install", "./pack", "--agent", a.agent)
	w.run("skillpm", "connect", a.host, "--no-mcp")
}

// writeSkill writes a skill of a pack.
func (w *desk) writeSkill(pack, name, front, body string) {
	w.t.Helper()
	w.write(pack+"/skills/"+name+"/SKILL.md",
		fmt.Sprintf("---\nname: %s\ndescription: Is called %[1]s.\n%s\n---\n%s\n", name, front, body))
}

// batch is one message with the calls of several steps.
func batch(steps ...mockmodel.Step) mockmodel.Step {
	var all mockmodel.Step
	for _, s := range steps {
		all.Calls = append(all.Calls, s.Calls...)
	}
	return all
}

// seen returns everything that a conversation's model received.
func seen(model *mockmodel.Server, conversation string) string {
	var b strings.Builder
	for _, r := range model.Requests(conversation) {
		b.WriteString(strings.Join(r.User, "\n"))
		for _, result := range r.Results {
			b.WriteString("\n" + result.Text)
		}
	}
	return b.String()
}

// answers returns what a model received for its calls, for messages.
func answers(model *mockmodel.Server) string {
	var b strings.Builder
	for _, r := range model.Results("main") {
		fmt.Fprintf(&b, "\n%s: %.300s", r.Tool, r.Text)
	}
	return b.String()
}

const looks = "allowed-tools: Read Bash(cat *)"

// TestAgentsParallelCalls activates a skill and runs eight commands in one message (O10, O26). The agents start the
// hooks of such calls at the same time. No command after the activation runs, wherever that is in the message. Without
// hooks, all of them run.
func TestAgentsParallelCalls(t *testing.T) {
	const count, rounds = 8, 2
	for _, before := range []int{0, 1, 4} {
		t.Run(fmt.Sprint(before, " before"), func(t *testing.T) {
			eachSkillAgent(t, func(t *testing.T, a skillAgent) {
				for range rounds {
					if ran := parallelCalls(t, a, before, count, true); ran != "" {
						t.Errorf("commands after the activation ran:%s", ran)
					}
				}
				if ran := parallelCalls(t, a, before, count, false); len(strings.Fields(ran)) != count {
					t.Errorf("without hooks, only these ran:%s", ran)
				}
			})
		})
	}
}

// parallelCalls sends one message with commands before and after an activation, and returns the marks of those after it.
func parallelCalls(t *testing.T, a skillAgent, before, after int, hooks bool) (ran string) {
	t.Helper()
	w := newDesk(t)
	w.installSkills(a, map[string]string{"look": looks})
	if !hooks {
		w.run("skillpm", "disconnect", a.host)
	}
	var steps []mockmodel.Step
	for i := range before {
		steps = append(steps, a.touch(fmt.Sprint("early-", i)))
	}
	steps = append(steps, a.use("look"))
	for i := range after {
		steps = append(steps, a.touch(fmt.Sprint("mark-", i)))
	}
	model := mockmodel.New(t, mockmodel.Script{"main": {batch(steps...), mockmodel.Say("I tried.")}})
	a.play(w, model, "[main] Look at once.")
	if hooks && !strings.Contains(seen(model, "main"), "Body of look.") {
		t.Errorf("the skill is not activated: %s", answers(model))
	}
	for i := range after {
		if mark := fmt.Sprint("mark-", i); w.exists(mark) {
			ran += " " + mark
		}
	}
	return ran
}

// TestAgentsSequentialSkills uses two independent skills, one after the other (O19). The first one forbids commands. It
// ends when the model activates the second one, whose tools then work.
func TestAgentsSequentialSkills(t *testing.T) {
	eachSkillAgent(t, func(t *testing.T, a skillAgent) {
		w := newDesk(t)
		w.installSkills(a, map[string]string{"look": looks, "mend": "allowed-tools: Bash(touch *) Bash(cat *)"})
		model := mockmodel.New(t, mockmodel.Script{"main": {
			a.use("look"), a.touch("looking"), a.use("mend"), a.touch("mending"), a.run("mkdir forbidden"), mockmodel.Say("Mended."),
		}})
		a.play(w, model, "[main] Look, then mend.")
		if w.exists("looking") || !w.exists("mending") || w.exists("forbidden") {
			t.Errorf("looking: %v, mending: %v, forbidden: %v%s", w.exists("looking"), w.exists("mending"), w.exists("forbidden"), answers(model))
		}
	})
}

// TestAgentsSixSkills uses six independent skills in one conversation (O19): the limit of depth is for nested skills.
func TestAgentsSixSkills(t *testing.T) {
	eachSkillAgent(t, func(t *testing.T, a skillAgent) {
		w := newDesk(t)
		skills, steps := map[string]string{}, []mockmodel.Step{}
		for i := range 6 {
			name := fmt.Sprint("part-", i+1)
			skills[name] = looks
			steps = append(steps, a.use(name))
		}
		w.installSkills(a, skills)
		model := mockmodel.New(t, mockmodel.Script{"main": append(steps, a.run("cat pack/skillpm.yaml"), a.touch("forbidden"))})
		a.play(w, model, "[main] Do all parts.")
		text := seen(model, "main")
		for name := range skills {
			if !strings.Contains(text, "Body of "+name+".") {
				t.Errorf("%s is not given to the model:%s", name, answers(model))
			}
		}
		if !strings.Contains(text, "name: acme/pack") || w.exists("forbidden") {
			t.Errorf("the last skill's restrictions do not apply; forbidden: %v%s", w.exists("forbidden"), answers(model))
		}
	})
}

// TestAgentsUserSkill shows that the restrictions of a skill that the user started stay when the model activates
// another skill (O19): only the tools that both allow work.
func TestAgentsUserSkill(t *testing.T) {
	mention := map[string]string{"claude-code": "/look [main]", "codex": "[main] Please use $look."}
	eachSkillAgent(t, func(t *testing.T, a skillAgent) {
		prompt := mention[a.agent]
		if prompt == "" {
			t.Skip("the user cannot start a skill without a terminal")
		}
		w := newDesk(t)
		w.installSkills(a, map[string]string{"look": looks, "mend": "allowed-tools: Bash(touch *) Bash(cat *)"})
		model := mockmodel.New(t, mockmodel.Script{"main": {
			a.use("mend"), a.touch("mending"), a.run("cat pack/skillpm.yaml"), mockmodel.Say("Mended."), a.touch("after"),
		}})
		a.play(w, model, prompt, "And now write.")
		if w.exists("mending") || !w.exists("after") || !strings.Contains(seen(model, "main"), "name: acme/pack") {
			t.Errorf("mending: %v, after: %v%s", w.exists("mending"), w.exists("after"), answers(model))
		}
	})
}

// TestClaudeRefusedSkill makes Claude Code's permissions refuse a skill (O10, O12). The skill is not active: its
// restrictions do not apply, its pre hook did not run, and the session does not list it.
func TestClaudeRefusedSkill(t *testing.T) {
	t.Parallel()
	a := skillAgents()[0]
	npmProgram(t, a.variable)
	w := newDesk(t)
	w.write("../home/.claude/settings.json", `{"permissions": {"deny": ["Skill(look)"]}}`)
	w.write("pack/skills/look/pre.sh", "#!/bin/sh\ntouch '"+w.project+"/pre-ran'\n")
	w.installSkills(a, map[string]string{"look": looks + "\nhooks: {pre: pre.sh}"})
	active := ""
	model := mockmodel.New(t, mockmodel.Script{"main": {a.use("look"), a.touch("after"), {Decide: func(mockmodel.Request) mockmodel.Step {
		active = w.run("skillpm", "session", "list", "--json")
		return mockmodel.Say("I could not look.")
	}}}})
	a.play(w, model, "[main] Look.")
	if results := model.Results("main"); len(results) != 2 || !results[0].Error || results[1].Error {
		t.Errorf("the calls are answered with %+v", results)
	}
	if !w.exists("after") || w.exists("pre-ran") {
		t.Errorf("after: %v, pre-ran: %v", w.exists("after"), w.exists("pre-ran"))
	}
	if strings.Contains(active, `"look"`) {
		t.Errorf("the skill is active: %s", active)
	}
}

// claudePaused is claude with a function that is called between two prompts, while Claude Code waits.
func claudePaused(w *desk, model *mockmodel.Server, between func(), prompts ...string) {
	w.t.Helper()
	line := append(npmProgram(w.t, "SKILLPM_CLAUDE"), "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--permission-mode", "bypassPermissions", "--model", "claude-sonnet-4-5")
	cmd := exec.CommandContext(w.t.Context(), line[0], line[1:]...)
	cmd.Dir = w.project
	cmd.Env = append(w.env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1")
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
	for i, prompt := range prompts {
		if i > 0 {
			between()
		}
		message := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": prompt}}
		if err := json.NewEncoder(in).Encode(message); err != nil {
			w.t.Errorf("%v\n%s", err, &stderr)
		}
		if result := finish(w.t, events); result != "success" {
			w.t.Errorf("the answer to %q ends with %s\n%s", prompt, result, &stderr)
		}
	}
	_ = in.Close()
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		w.t.Errorf("%v\n%s", err, &stderr)
	}
}

// TestClaudeBackground ends a turn that leaves a command running in the background (O10, O26): the skill stays active
// until the user speaks. Without such a command, it ends with the turn.
func TestClaudeBackground(t *testing.T) {
	for _, background := range []bool{true, false} {
		t.Run(fmt.Sprint(background), func(t *testing.T) {
			t.Parallel()
			a := skillAgents()[0]
			npmProgram(t, a.variable)
			w := newDesk(t)
			w.installSkills(a, map[string]string{"wait": "allowed-tools: Bash(sh wait.sh)"})
			// Claude Code waits for the command at the end of the session.
			w.write("wait.sh", "for i in $(seq 600); do [ -e after ] && exit; sleep 0.1; done\n")
			wait := mockmodel.Use("Bash", map[string]any{"command": "sh wait.sh", "description": "wait", "run_in_background": true})
			if !background {
				w.write("wait.sh", "true\n")
				wait = a.run("sh wait.sh")
			}
			model := mockmodel.New(t, mockmodel.Script{"main": {
				a.use("wait"), wait, a.touch("during"), mockmodel.Say("It waits."), a.touch("after"), mockmodel.Say("Done."),
			}})
			between := ""
			claudePaused(w, model, func() { between = w.run("skillpm", "session", "list", "--json") }, "[main] Wait.", "And now write.")
			if strings.Contains(between, `wait"`) != background {
				t.Errorf("between the prompts, the sessions are %s%s", between, answers(model))
			}
			if w.exists("during") || !w.exists("after") {
				t.Errorf("during: %v, after: %v%s", w.exists("during"), w.exists("after"), answers(model))
			}
		})
	}
}

// TestAgentsSameName installs two packs that both have a skill deploy, in one scope and in two (O14, O24). Whichever of
// them an agent gives to its model: the restrictions and the audit log are those of the same pack. If skillpm cannot
// know which one it is, it denies the activation.
func TestAgentsSameName(t *testing.T) {
	for _, scopes := range []string{"one scope", "two scopes"} {
		for _, name := range []string{"deploy", "acme-deploy", "zeta-deploy"} {
			t.Run(scopes+" "+name, func(t *testing.T) {
				eachSkillAgent(t, func(t *testing.T, a skillAgent) {
					w := newDesk(t)
					for pack, tools := range map[string]string{"acme": looks, "zeta": looks + " Bash(touch *)"} {
						w.write(pack+"/skillpm.yaml", "name: "+pack+"/skills\nversion: 1.0.0\n")
						w.writeSkill(pack, "deploy", tools, "The text of "+pack+".")
					}
					scope := map[string]string{"one scope": "project", "two scopes": "user"}[scopes]
					w.run("skillpm", "install", "./acme", "--agent", a.agent)
					w.run("skillpm", "install", "./zeta", "--agent", a.agent, "--scope", scope)
					w.run("skillpm", "connect", a.host, "--no-mcp")
					model := mockmodel.New(t, mockmodel.Script{"main": {a.use(name), a.touch("mark"), mockmodel.Say("Deployed.")}})
					a.play(w, model, "[main] Deploy.")
					w.assertSamePack(model)
				})
			})
		}
	}
}

// assertSamePack requires that the text of a pack that the model received, the restrictions, and the audit log agree.
func (w *desk) assertSamePack(model *mockmodel.Server) {
	w.t.Helper()
	text := seen(model, "main")
	var packs []string
	for _, pack := range []string{"acme", "zeta"} {
		if strings.Contains(text, "The text of "+pack+".") {
			packs = append(packs, pack)
		}
	}
	if len(packs) != 1 {
		if len(packs) > 1 {
			w.t.Errorf("the model received %v", packs)
		}
		return // the name does not exist, or skillpm denied the activation
	}
	if pack := packs[0]; w.exists("mark") != (pack == "zeta") {
		w.t.Errorf("the model received the text of %s, and the mark exists: %v%s", pack, w.exists("mark"), answers(model))
	}
	var log struct {
		Records []struct{ Result, Skill, Pack string }
	}
	out := w.run("skillpm", "log", "--action", "activate", "--json")
	if err := json.Unmarshal([]byte(out), &log); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	if n := len(log.Records); n == 0 || log.Records[n-1].Pack != packs[0]+"/skills" {
		w.t.Errorf("the model received the text of %s, and the audit log is\n%s", packs[0], out)
	}
}
