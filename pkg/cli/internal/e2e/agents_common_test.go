//go:build slow

package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// TestAgentsReadOnlyCommands gives models that read files with shell commands a skill that allows Read, Grep, and Glob
// (O10): commands that only read pass, in exact forms. Commands that could write or start another program do not.
func TestAgentsReadOnlyCommands(t *testing.T) {
	allowed := []string{
		"cat notes.txt", "cat notes.txt pack/skillpm.yaml", "head -n 1 notes.txt", "sed -n 1,2p notes.txt", "ls",
		"grep -n noted notes.txt", "find . -name notes.txt",
	}
	if _, err := exec.LookPath("rg"); err == nil {
		allowed = append(allowed, "rg -n noted notes.txt")
	}
	denied := []string{
		"cat notes.txt > mark", "cat notes.txt | tee mark", "sed -n 'w mark' notes.txt", "find . -name notes.txt -fprint mark",
		"find . -name notes.txt -exec touch mark +", "grep -n noted notes.txt && touch mark", "head -n 1 $(touch mark)",
	}
	eachSkillAgent(t, func(t *testing.T, a skillAgent) {
		if a.agent != "claude-code" && a.agent != "codex" {
			t.Skip("its model has tools to read files")
		}
		w := newDesk(t)
		w.write("notes.txt", "what was noted\n")
		w.installSkills(a, map[string]string{"study": "allowed-tools: Read, Grep, Glob"})
		steps := []mockmodel.Step{a.use("study")}
		for _, command := range append(allowed, denied...) {
			steps = append(steps, a.run(command))
		}
		model := mockmodel.New(t, mockmodel.Script{"main": steps})
		a.play(w, model, "[main] Study the notes.")
		results := model.Results("main")
		if len(results) != len(steps) {
			t.Fatalf("%d calls:%s", len(results), answers(model))
		}
		for i, command := range allowed {
			if text := results[i+1].Text; strings.Contains(text, "study") && !strings.Contains(text, "noted") || results[i+1].Error {
				t.Errorf("%s is denied: %s", command, text)
			}
		}
		for i, command := range denied {
			if text := results[len(allowed)+i+1].Text; !strings.Contains(text, "study") {
				t.Errorf("%s is not denied: %s", command, text)
			}
		}
		if w.exists("mark") {
			t.Error("a denied command ran")
		}
	})
}

// TestAgentsOwnFiles reads a file of the active skill, which every skill allows, and no other file (O10).
func TestAgentsOwnFiles(t *testing.T) {
	reads := map[string]func(w *desk, path string) mockmodel.Step{
		"claude-code": func(w *desk, path string) mockmodel.Step {
			return mockmodel.Use("Read", map[string]any{"file_path": w.project + "/" + path})
		},
		"codex": func(_ *desk, path string) mockmodel.Step { return shell("cat " + path) },
		"gemini-cli": func(_ *desk, path string) mockmodel.Step {
			return mockmodel.Use("read_file", map[string]any{"file_path": path})
		},
		"github-copilot": func(w *desk, path string) mockmodel.Step {
			return mockmodel.Use("view", map[string]any{"path": w.project + "/" + path})
		},
	}
	eachSkillAgent(t, func(t *testing.T, a skillAgent) {
		w := newDesk(t)
		w.write("notes.txt", "what was noted\n")
		w.write("pack/skills/touches/more.md", "what the skill adds\n")
		w.installSkills(a, map[string]string{"touches": "allowed-tools: Bash(touch *)"})
		dir := ".agents/skills/touches/"
		if a.agent == "claude-code" {
			dir = ".claude/skills/touches/"
		}
		read := reads[a.agent]
		model := mockmodel.New(t, mockmodel.Script{"main": {a.use("touches"), read(w, dir+"more.md"), read(w, "notes.txt"), a.touch("mark")}})
		a.play(w, model, "[main] Touch it.")
		own := "what the skill adds"
		if a.agent == "gemini-cli" { // it does not read files that git ignores, such as those of installed packs
			own = "is ignored by configured ignore patterns"
		}
		if text := answers(model); !strings.Contains(text, own) || strings.Contains(text, "what was noted") || !w.exists("mark") {
			t.Errorf("mark: %v%s", w.exists("mark"), text)
		}
	})
}

// TestAgentsDeniedSkill denies a skill while an agent uses it (O14): the next call is denied, without the command that
// lifts the denial. The agent's next session does not list the skill.
func TestAgentsDeniedSkill(t *testing.T) {
	eachSkillAgent(t, func(t *testing.T, a skillAgent) {
		w := newDesk(t)
		w.installSkills(a, map[string]string{"look": looks, "other": looks})
		model := mockmodel.New(t, mockmodel.Script{
			"main": {a.use("look"), {Decide: func(mockmodel.Request) mockmodel.Step {
				w.run("skillpm", "deny", "look")
				return a.run("cat pack/skillpm.yaml")
			}}},
			"next": {a.run("true")},
		})
		a.play(w, model, "[main] Look.")
		a.play(w, model, "[next] What is there?")
		results := model.Results("main")
		if len(results) != 2 || strings.Contains(results[1].Text, "acme/pack\n") || !strings.Contains(results[1].Text, "denied") {
			t.Errorf("the call is not denied:%s", answers(model))
		}
		for _, command := range []string{"--undo", "skillpm deny", "skillpm approve", "skillpm trust"} {
			if strings.Contains(answers(model), command) {
				t.Errorf("the model is told the command %s:%s", command, answers(model))
			}
		}
		listing := model.Requests("next")[0].SystemText()
		if strings.Contains(listing, "Is called look.") || !strings.Contains(listing, "Is called other.") {
			t.Error("the next session lists the denied skill, or not the other one")
		}
	})
}

// TestAgentsOneCatalog connects an agent completely, with linked skills, hooks, and the MCP server (O7, O26): its model
// is told of each skill once.
func TestAgentsOneCatalog(t *testing.T) {
	eachSkillAgent(t, func(t *testing.T, a skillAgent) {
		w := newDesk(t, "MCP_CONNECTION_NONBLOCKING=0", "MCP_CONNECT_TIMEOUT_MS=120000")
		w.installSkills(a, map[string]string{"look": looks})
		w.run("skillpm", "connect", a.host)
		model := mockmodel.New(t, mockmodel.Script{"main": {a.run("true")}})
		a.play(w, model, "[main] What is there?")
		first := model.Requests("main")[0]
		if n := strings.Count(first.SystemText(), "Is called look."); n != 1 {
			t.Errorf("the model is told of the skill %d times", n)
		}
		found := false
		for _, name := range first.ToolNames() {
			found = found || strings.HasSuffix(name, "find_skills")
		}
		if !found {
			t.Errorf("the MCP server is not connected: %s", first.ToolNames())
		}
	})
}
