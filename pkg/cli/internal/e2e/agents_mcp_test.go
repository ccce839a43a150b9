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

// mcpClient is a real agent as a client of skillpm's MCP server.
type mcpClient struct {
	host     string
	variable string
	play     func(*desk, *mockmodel.Server, ...string)
	tool     string // the names of the server's tools, with %s for skill, skill_end …
	shell    func(command string) mockmodel.Step
	blocked  string // how it tells the model that a hook refused
	strict   bool   // it denies what a hook is asked about that fails
	stale    bool   // it asks for the tools once, and not when they have changed
}

// mcpClients are those that a scripted model can drive.
func mcpClients() []mcpClient {
	run := func(tool string) func(string) mockmodel.Step {
		return func(command string) mockmodel.Step {
			return mockmodel.Use(tool, map[string]any{"command": command, "description": "leave a mark"})
		}
	}
	return []mcpClient{
		{host: "claude-code", variable: "SKILLPM_CLAUDE", play: claude, tool: "mcp__skillpm__%s", shell: run("Bash")},
		{host: "codex", variable: "SKILLPM_CODEX", play: codex, tool: "mcp__skillpm.%s", shell: shell, blocked: "blocked by PreToolUse hook", stale: true},
		{host: "gemini", variable: "SKILLPM_GEMINI", play: gemini, tool: "mcp_skillpm_%s", shell: run("run_shell_command"), blocked: "Tool execution blocked"},
		{host: "copilot", variable: "SKILLPM_COPILOT", play: copilot, tool: "skillpm-%s", shell: run("bash"), blocked: "Denied by preToolUse hook", strict: true},
	}
}

// call is a step that calls one of the server's tools.
func (c mcpClient) call(tool string, input map[string]any) mockmodel.Step {
	return mockmodel.Use(fmt.Sprintf(c.tool, tool), input)
}

// unlink removes the links of the skill reader, so that no agent reads it itself.
func (w *desk) unlink() {
	w.t.Helper()
	for _, dir := range []string{".agents", ".claude", ".github", ".gemini", ".codex"} {
		if err := os.RemoveAll(filepath.Join(w.project, dir, "skills", "reader")); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestAgentsMCP makes real agents start skillpm mcp from the configuration that connect writes. The model receives its
// tools and the list of the skills that the agent does not read itself (K3, O7), a call of the skill tool returns the
// body (P7), an unknown skill is an error that lists the existing ones (K5), and calls that the skill forbids do not run
// while it is active (O10).
func TestAgentsMCP(t *testing.T) {
	for _, client := range mcpClients() {
		t.Run(client.host, func(t *testing.T) {
			t.Parallel()
			npmProgram(t, client.variable)
			// Claude Code's first request waits for the server, even on a busy machine.
			w := newDesk(t, "MCP_CONNECTION_NONBLOCKING=0", "MCP_CONNECT_TIMEOUT_MS=120000")
			w.installLimited("adal")
			w.run("skillpm", "connect", client.host, "--no-hooks") // links the skills for the agent
			w.run("skillpm", "connect", client.host, "--no-mcp")
			w.unlink()
			model := mockmodel.New(t, mockmodel.Script{"main": {
				client.call("skill_file", map[string]any{"skill": "absent", "path": "."}),
				client.call("skill", map[string]any{"name": "reader", "arguments": "notes.txt"}),
				client.shell("touch during"),
				client.call("skill_end", map[string]any{"name": "reader"}),
				client.shell("touch after"),
			}})
			client.play(w, model, "[main] Read the notes.")
			first := model.Requests("main")[0]
			for _, tool := range []string{"skill", "skill_file", "skill_run", "find_skills", "skill_end"} {
				if name := fmt.Sprintf(client.tool, tool); !first.Offers(name) {
					t.Errorf("the model is not offered %s: %s", name, first.ToolNames())
				}
			}
			for _, about := range []string{"Reads what it is told to read, and nothing else.", "Lets others read."} { // reader, delegate
				if n := strings.Count(first.SystemText(), about); n != 1 {
					t.Errorf("the model is told %d times: %s\n%s", n, about, first.SystemText())
				}
			}
			results := model.Results("main")
			if len(results) != 5 {
				t.Fatalf("%d calls: %+v", len(results), results)
			}
			for i, want := range []string{"reader", "Read the file that you are told, word by word: notes.txt", "reader", "", ""} {
				if !strings.Contains(results[i].Text, want) {
					t.Errorf("call %d is answered with %q, want %s", i, results[i].Text, want)
				}
			}
			if !strings.Contains(results[2].Text, client.blocked) || !strings.Contains(results[2].Text, "Bash") {
				t.Errorf("the refusal is %q", results[2].Text)
			}
			if w.exists("during") || !w.exists("after") {
				t.Errorf("during: %v, after: %v; %+v", w.exists("during"), w.exists("after"), results)
			}
		})
	}
}

// TestAgentsMCPLimits gives real agents more skills than they read of a server's texts: the whole list arrives, says what
// it leaves out, and names the tool that finds the rest (O7, O23).
func TestAgentsMCPLimits(t *testing.T) {
	for _, client := range mcpClients() {
		t.Run(client.host, func(t *testing.T) {
			t.Parallel()
			npmProgram(t, client.variable)
			w := newDesk(t, "MCP_CONNECTION_NONBLOCKING=0", "MCP_CONNECT_TIMEOUT_MS=120000")
			for i := range 1000 {
				name := fmt.Sprintf("skill-%04d", i)
				w.write(".skillpm/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+strings.Repeat("Does a lot. ", 10)+"\n---\nx\n")
			}
			w.run("skillpm", "connect", client.host, "--no-hooks")
			model := mockmodel.New(t, mockmodel.Script{"main": {mockmodel.Say("I see.")}})
			client.play(w, model, "[main] Look around.")
			text := model.Requests("main")[0].SystemText()
			for _, want := range []string{"- skill-0000", "Skills that are not listed: ", "call `find_skills` with the task.", "</available_skills>"} {
				if !strings.Contains(text, want) {
					t.Errorf("the model is not told %q:\n%s", want, text)
				}
			}
			if n := strings.Count(text, "- skill-0000"); n != 1 || strings.Contains(text, "[truncated]") {
				t.Errorf("the skill is listed %d times, or the list was cut:\n%s", n, text)
			}
		})
	}
}

// TestAgentsMCPReload adds a skill, which no agent reads itself, during a session: the server reports that its list has
// changed, and the client offers the new skill to the model (O20). Codex does not list tools again, but the server knows the skill by its name.
func TestAgentsMCPReload(t *testing.T) {
	for _, client := range mcpClients() {
		t.Run(client.host, func(t *testing.T) {
			t.Parallel()
			npmProgram(t, client.variable)
			w := newDesk(t)
			w.installLimited("adal")
			w.run("skillpm", "connect", client.host, "--no-hooks")
			w.write("more/skills/arrival/SKILL.md", "---\nname: arrival\ndescription: Arrives late.\n---\nWelcome.\n")
			tool := fmt.Sprintf(client.tool, "skill")
			offered := func(r mockmodel.Request) bool { return strings.Contains(string(r.Tool(tool).Schema), `"arrival"`) }
			steps := []mockmodel.Step{{Decide: func(r mockmodel.Request) mockmodel.Step {
				if offered(r) {
					t.Error("the skill is offered before it is there")
				}
				return client.shell("mkdir -p .skillpm/skills && cp -R more/skills/arrival .skillpm/skills")
			}}}
			for i := range 200 { // each another call: the same one again and again would be ended as a loop
				steps = append(steps, mockmodel.Step{Decide: func(r mockmodel.Request) mockmodel.Step {
					switch {
					case wasTold(r.Results, "Welcome."):
						return mockmodel.Say("It is there.")
					case offered(r) || client.stale:
						return client.call("skill", map[string]any{"name": "arrival"})
					}
					return client.shell(fmt.Sprintf("echo %d", i))
				}})
			}
			model := mockmodel.New(t, mockmodel.Script{"main": steps})
			client.play(w, model, "[main] Wait for the skill.")
			if results := model.Results("main"); !wasTold(results, "Welcome.") {
				t.Errorf("the skill does not arrive: %+v", results[:min(len(results), 3)])
			}
		})
	}
}

// TestClaudeAlwaysLoad makes Claude Code search for tools instead of offering all, which is its behavior with
// Anthropic's own API. It then hides the tools of MCP servers, except the one that is marked as always needed and has
// the list of skills (O7), which connect configures.
func TestClaudeAlwaysLoad(t *testing.T) {
	for _, always := range []bool{true, false} {
		t.Run(fmt.Sprint(always), func(t *testing.T) {
			t.Parallel()
			npmProgram(t, "SKILLPM_CLAUDE")
			w := newDesk(t, "ENABLE_TOOL_SEARCH=true", "MCP_CONNECTION_NONBLOCKING=0", "MCP_CONNECT_TIMEOUT_MS=120000")
			w.installLimited("adal")
			install := []string{"skillpm", "connect", "claude-code", "--no-hooks"}
			if !always {
				install = append(install, "--", "--always-load=false")
			}
			w.run(install...)
			w.unlink()
			offered := false
			steps := make([]mockmodel.Step, 20) // the server is started beside the first requests
			for i := range steps {
				steps[i].Decide = func(r mockmodel.Request) mockmodel.Step {
					if offered = strings.Contains(r.Tool("mcp__skillpm__skill").Description, "- reader: Reads what it is told to read"); offered {
						return mockmodel.Say("I see.")
					}
					return read(w)
				}
			}
			claude(w, mockmodel.New(t, mockmodel.Script{"main": steps}), "[main] Look around.")
			if offered != always {
				t.Errorf("always-load %v: the model is offered the tool, with the skills: %v", always, offered)
			}
		})
	}
}
