//go:build slow

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// claudeVersions are the variables that name the pinned and the newest Claude Code, and whether hooks of the version
// can block on failure.
var claudeVersions = map[string]bool{"SKILLPM_CLAUDE": false, "SKILLPM_CLAUDE_NEW": true}

// TestClaudeBlock checks O26 on two versions of Claude Code: with the hooks that connect writes by default, a missing,
// crashing, or slow program denies the call in the newest version. The older version ignores the key for that.
func TestClaudeBlock(t *testing.T) {
	for variable, blocks := range claudeVersions {
		for fault, script := range map[string]string{
			"missing": "", "exits with 1": "exit 1", "is killed": "kill -9 $$", "is slow": "exec sleep 30", "answers": "exit 0",
		} {
			t.Run(variable+" "+fault, func(t *testing.T) {
				t.Parallel()
				npmProgram(t, variable)
				w := newDesk(t)
				if script != "" {
					// Only the hook before a call is slow, because each hook delays the session.
					w.write("../home/broken/skillpm", "#!/bin/sh\n[ \"$2\" = PreToolUse ] || exit 0\n"+script+"\n")
				}
				w.run("skillpm", "connect", "claude-code", "--no-mcp", "--command", w.home+"/broken/skillpm")
				w.edit(".claude/settings.json", `"timeout": 60`, `"timeout": 1`)
				model := mockmodel.New(t, mockmodel.Script{"main": {touch("mark"), mockmodel.Say("I tried.")}})
				claudeOf(variable)(w, model, "[main] Leave a mark.")
				if want := !blocks || fault == "answers"; w.exists("mark") != want {
					t.Errorf("the mark is there: %v, want %v; %+v", w.exists("mark"), want, model.Results("main"))
				}
			})
		}
	}
}

// edit replaces a text in a file of the project.
func (w *desk) edit(name, old, text string) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.project, filepath.FromSlash(name)))
	if err != nil || !strings.Contains(string(data), old) {
		w.t.Fatalf("%s does not contain %s: %v", name, old, err)
	}
	w.write(name, strings.ReplaceAll(string(data), old, text))
}

// TestAgentsParse checks O26: real agents ignore a file with hooks exactly if skillpm reports that they do. The hook
// denies every call, so that a call that runs shows that the file is ignored.
func TestAgentsParse(t *testing.T) {
	clients := []mcpClient{{host: "claude-code", variable: "SKILLPM_CLAUDE_NEW", play: claudeOf("SKILLPM_CLAUDE_NEW"), shell: touchWith}}
	files := map[string]string{
		"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "copilot": ".github/hooks/skillpm.json",
		"gemini": ".gemini/settings.json",
	}
	for _, client := range append(clients, mcpClients()...) {
		for name, edit := range map[string]func(string) string{
			"as written":  func(s string) string { return s },
			"a comment":   func(s string) string { return "{ // mine\n" + s[1:] },
			"a comma":     func(s string) string { return s[:strings.LastIndex(s, "\n}")] + ",\n}\n" },
			"a mark":      func(s string) string { return "\ufeff" + s },
			"another key": func(s string) string { return `{"other": {},` + s[1:] },
		} {
			if client.host == "gemini" && (name == "a comma" || name == "a mark") {
				continue // it does not start
			}
			t.Run(client.variable+" "+name, func(t *testing.T) {
				t.Parallel()
				npmProgram(t, client.variable)
				w := newDesk(t)
				w.write("../home/broken/skillpm", "#!/bin/sh\necho no >&2\nexit 2\n")
				w.run("skillpm", "connect", client.host, "--no-mcp", "--command", w.home+"/broken/skillpm")
				file := files[client.host]
				data, err := os.ReadFile(filepath.Join(w.project, file))
				if err != nil {
					t.Fatal(err)
				}
				w.write(file, edit(string(data)))
				reported := strings.Contains(w.run("skillpm", "agents", client.host, "--json", "--command", w.home+"/broken/skillpm"), " ignores ")
				model := mockmodel.New(t, mockmodel.Script{"main": {client.shell("touch mark"), mockmodel.Say("I tried.")}})
				client.play(w, model, "[main] Leave a mark.")
				if w.exists("mark") != reported {
					t.Errorf("the file is ignored: %v, and skillpm reports that it is: %v", w.exists("mark"), reported)
				}
			})
		}
	}
}

func touchWith(command string) mockmodel.Step {
	return mockmodel.Use("Bash", map[string]any{"command": command, "description": "leave a mark"})
}

// TestClaudeReports checks O26: skillpm agents shows what the newest Claude Code itself reports about its settings, and
// a wrong value of another setting, for which it ignores the hooks, too.
func TestClaudeReports(t *testing.T) {
	t.Parallel()
	program := npmProgram(t, "SKILLPM_CLAUDE_NEW")
	w := newDesk(t)
	if err := os.Mkdir(filepath.Join(w.home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program[0], filepath.Join(w.home, "bin", "claude")); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "PATH="+filepath.Join(w.home, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	w.run("skillpm", "connect", "claude-code", "--no-mcp")
	if said := w.run("skillpm", "agents", "claude-code", "--json"); strings.Contains(said, "reports an error") {
		t.Errorf("settings that are right: %s", said)
	}
	w.edit(".claude/settings.json", "{\n  \"hooks\"", "{\n  \"cleanupPeriodDays\": \"x\",\n  \"hooks\"")
	said := w.run("skillpm", "agents", "claude-code", "--json")
	if !strings.Contains(said, "Claude Code reports an error in ") || !strings.Contains(said, "cleanupPeriodDays") {
		t.Errorf("settings that are wrong: %s", said)
	}
}

// TestReadersOnly checks O10 on agents that read and search with their shell: under Read, Grep, Glob, the commands that
// only read pass, and others do not.
func TestReadersOnly(t *testing.T) {
	skill := mockmodel.Use("Skill", map[string]any{"skill": "research"})
	for _, agent := range []struct {
		variable, agent, host string
		play                  func(*desk, *mockmodel.Server, ...string)
		activate              mockmodel.Step
		shell                 func(string) mockmodel.Step
	}{
		{"SKILLPM_CLAUDE_NEW", "claude-code", "claude-code", claudeOf("SKILLPM_CLAUDE_NEW"), skill, touchWith},
		{"SKILLPM_CODEX", "codex", "codex", codex, shell("cat .agents/skills/research/SKILL.md"), shell},
		{"SKILLPM_OPENCODE", "opencode", "opencode", opencode, openCodeSkill("research"), openCodeBash},
	} {
		t.Run(agent.host, func(t *testing.T) {
			t.Parallel()
			npmProgram(t, agent.variable)
			w := newDesk(t)
			w.write("pack/skillpm.yaml", "name: acme/research\nversion: 1.0.0\n")
			w.write("pack/skills/research/SKILL.md", "---\nname: research\ndescription: Finds things.\nallowed-tools: Read, Grep, Glob\n---\nFind it.\n")
			w.write("notes.txt", "what was noted\n")
			w.run("skillpm", "install", "./pack", "--agent", agent.agent)
			w.run("skillpm", "connect", agent.host, "--no-mcp")
			lines := []string{
				"sed -n 1,5p notes.txt", "grep -n noted notes.txt | head -n 5", "ls -la", "find . -name notes.txt",
				"sed -n 1p '-e1e touch mark' notes.txt", "find . -name notes.txt -exec touch mark ';'", "cat notes.txt > mark", "touch mark",
			}
			steps := []mockmodel.Step{agent.activate}
			for _, line := range lines {
				steps = append(steps, agent.shell(line))
			}
			model := mockmodel.New(t, mockmodel.Script{"main": steps})
			agent.play(w, model, "[main] Find what was noted.")
			results := model.Results("main")
			if len(results) != len(steps) {
				t.Fatalf("%d calls: %+v", len(results), results)
			}
			for i, line := range lines {
				refused := strings.Contains(results[i+1].Text, "allows Read, Grep, Glob")
				if want := i > 3; refused != want {
					t.Errorf("%s is refused: %v, want %v: %s", line, refused, want, results[i+1].Text)
				}
			}
			if w.exists("mark") {
				t.Error("a command wrote")
			}
			if first := model.Requests("main")[0]; agent.host == "claude-code" && (first.Offers("Grep") || first.Offers("Glob")) {
				t.Error("Claude Code offers tools to search again:", fmt.Sprint(first.ToolNames()))
			}
		})
	}
}
