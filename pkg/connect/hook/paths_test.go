package hook_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// event is a tool call before it runs, as an agent sends it.
func (w *fixture) toolEvent(agent, id, tool string, input map[string]any) string {
	w.t.Helper()
	event := map[string]any{"cwd": filepath.Join(w.dir, "project")}
	name := "PreToolUse"
	switch agent {
	case "copilot":
		name = "preToolUse"
		event["sessionId"], event["toolName"], event["toolArgs"] = id, tool, input
	case "cursor":
		name = "preToolUse"
		event["conversation_id"], event["tool_name"], event["tool_input"] = id, tool, input
	case "gemini":
		name = "BeforeTool"
		event["session_id"], event["tool_name"], event["tool_input"] = id, tool, input
	default:
		event["session_id"], event["tool_name"], event["tool_input"] = id, tool, input
	}
	event["hook_event_name"] = name
	data, err := json.Marshal(event)
	if err != nil {
		w.t.Fatal(err)
	}
	r := w.send(agent, "", string(data))
	if r.Err != nil {
		w.t.Errorf("%s: %v", agent, r.Err)
	}
	return string(r.Stdout)
}

// agentWrites are the agents' tools that write a file, with the field of its path.
var agentWrites = map[string][2]string{
	"gemini": {"write_file", "file_path"}, "claude-code": {"Write", "file_path"}, "copilot": {"create", "path"},
	"opencode": {"write", "filePath"}, "cursor": {"Write", "file_path"}, "codex": {"apply_patch", ""},
}

func agentWrite(agent, path string) (tool string, input map[string]any) {
	tool, field := agentWrites[agent][0], agentWrites[agent][1]
	if field == "" {
		return tool, map[string]any{"input": "*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch"}
	}
	return tool, map[string]any{field: path, "content": "x"}
}

// TestK7AgentPaths checks SPEC K7: without an active skill, no agent can write to a protected file by an unusual path,
// nor with a tool of an MCP server. What is protected does not depend on the spellings that an agent accepts, so one
// agent tries all paths, and the others some.
func TestK7AgentPaths(t *testing.T) {
	w := newFixture(t)
	w.file("project/skillpm.yaml", "")
	w.file("project/.skillpm/plugins/acme/x/y/SKILL.md", "x")
	w.file("project/notes/x", "")
	if err := os.Symlink("../skillpm-policy.yaml", filepath.Join(w.dir, "project/notes/link.md")); err != nil {
		t.Skip("no links here:", err)
	}
	policy := filepath.Join(w.paths.Config, "policy.yaml")
	paths := []string{
		"%2eskillpm/plugins/acme/x/y/SKILL.md", "@skillpm-policy.yaml", "skillpm-approvals.yaml\x00",
		strings.Repeat("docs/../", 700) + "skillpm-policy.yaml", " skillpm-policy.yaml", "\ufeffskillpm-policy.yaml", "SKILLPM-POLICY.yaml",
		"file://" + policy, "~/config/policy.yaml", "$HOME/config/policy.yaml", "skillpm.lock", "/proc/self/cwd/skillpm-policy.yaml",
		`skillpm-policy\u002eyaml`, `docs\..\skillpm-policy.yaml`, "'skillpm-policy.yaml'", "notes/link.md", "@notes/link%2emd", "~nobody/x\n",
	}
	for n, agent := range slices.Sorted(maps.Keys(agentWrites)) {
		for i, path := range paths {
			tool, input := agentWrite(agent, path)
			if agent == "codex" && strings.ContainsAny(path, "\n") || agent != "gemini" && i%len(agentWrites) != n {
				continue
			}
			if got := w.toolEvent(agent, fmt.Sprint(agent, i), tool, input); !strings.Contains(got, `"deny"`) {
				t.Errorf("%s: %s %q: %q", agent, tool, path, got)
			}
		}
		tool, input := agentWrite(agent, "docs/50%25 @types/a.md")
		silent(t, w.toolEvent(agent, "free", tool, input))
	}
	for i, path := range append(paths[:len(paths)-1], policy, "config/policy.yaml", ".skillpm/plugins", ".skillpm") {
		input := []map[string]any{
			{"path": path, "content": "a\nb"}, {"edits": []any{map[string]any{"to": path}}}, {"files": map[string]any{path: "x"}},
		}[i%3]
		if got := w.toolEvent("claude-code", fmt.Sprint("mcp", i), "mcp__files__write_file", input); !strings.Contains(got, `"deny"`) {
			t.Errorf("a server's tool: %v: %q", input, got)
		}
	}
	for _, input := range []map[string]any{{"path": "docs/a.md"}, {"q": "skillpm"}, {"repo": filepath.Join(w.dir, "project")}, {"text": "a\nskillpm-policy.yaml"}} {
		silent(t, w.toolEvent("claude-code", "free", "mcp__files__write_file", input))
	}
	silent(t, w.toolEvent("claude-code", "free", "mcp__files__read_file", map[string]any{"path": ".skillpm/plugins/acme/x/y/SKILL.md"}))
	// Gemini CLI edits the only file whose path ends with a missing one.
	replace := func(path string) string {
		return w.toolEvent("gemini", "r", "replace", map[string]any{"file_path": path, "old_string": "x", "new_string": "y"})
	}
	denied(t, replace("y/SKILL.md"), "skills in")
	denied(t, replace("@y/SKILL%2emd"), "skills in")
	silent(t, replace("notes/none.md"))
}

// TestK1AgentPaths checks SPEC K1: while a skill restricts tools, an agent's unusual path counts as the file that the
// agent opens.
func TestK1AgentPaths(t *testing.T) {
	w := newFixture(t)
	w.skill("docsy", "allowed-tools: Read(docs/**) Write(docs/**) Write(*.note) Edit(docs/**) Grep(docs/**)")
	for _, name := range []string{"secret.txt", "gone.txt"} {
		w.file("project/other/docs/"+name, "")
	}
	w.file("project/docs/here.txt", "")
	if err := os.Symlink("nothing", filepath.Join(w.dir, "project/docs/gone.txt")); err != nil {
		t.Skip("no links here:", err)
	}
	silent(t, w.call("s", "Skill", `{"skill":"docsy"}`))
	for _, test := range []struct {
		agent, tool, field, path string
		want                     bool
	}{
		{"gemini", "read_file", "file_path", "docs/%2e%2e/secret.txt", false},
		{"gemini", "write_file", "file_path", "docs/%2e%2e/secret.txt", false},
		{"gemini", "write_file", "file_path", ".gemini/settings%2Ejson", false},
		{"gemini", "read_file", "file_path", "@types/x", false},
		{"gemini", "read_file", "file_path", "@docs/x", false}, // a directory @docs, if there is one
		{"gemini", "read_file", "file_path", "docs/50%25.md", true},
		{"gemini", "grep_search", "dir_path", "docs", true},
		{"gemini", "grep_search", "path", "docs", false},
		{"claude-code", "Read", "file_path", "docs/%2e%2e/x", true}, // the name of a file
		{"claude-code", "Read", "file_path", " docs/../x", false},
		{"claude-code", "Grep", "path", "\ufeff..", false},
		{"claude-code", "Grep", " path", "docs", false},
		{"claude-code", "Grep", "path", "docs", true},
		{"copilot", "view", "path", "docs/@x", true},
		{"copilot", "view", "path", "/proc/self/cwd/docs/x", false},
		{"gemini", "replace", "file_path", "docs/here.txt", true},
		{"gemini", "replace", "file_path", "docs/se%63ret.txt", false}, // of other, by its end
		{"gemini", "replace", "file_path", "docs/gone.txt", false},     // likewise: a link without a target is missing
		{"codex", "apply_patch", "", "docs/x.note", true},
		{"codex", "apply_patch", "", "~/x.note", false},
		{"cursor", "Read", "path", "docs/%2e%2e/x", false}, // unknown, so that everything counts
		{"cursor", "Read", "path", ".agents/skills/docsy/SKILL.md", true},
		{"cursor", "Read", "path", "file:///etc/passwd?/../../../../.agents/skills/docsy/SKILL.md", false},
	} {
		input := map[string]any{test.field: test.path, "pattern": "x", "content": "x", "old_string": "x", "new_string": "y"}
		if test.field == "" {
			_, input = agentWrite(test.agent, test.path)
		}
		got := w.toolEvent(test.agent, "s", test.tool, input)
		if (got == "") != test.want {
			t.Errorf("%s: %s %q: %q", test.agent, test.tool, test.path, got)
		}
	}
}

// TestK7LargeCalls checks SPEC K7: no call takes so long to check that its agent stops waiting and runs it.
func TestK7LargeCalls(t *testing.T) {
	w := newFixture(t)
	w.file("project/skillpm.yaml", "")
	w.skill("docsy", "allowed-tools: Bash(*) Write(docs/**)\ndisallowed-tools: Bash(rm:*), Bash(git * push *)")
	silent(t, w.call("s", "Skill", `{"skill":"docsy"}`))
	for _, test := range []struct {
		agent, tool string
		input       map[string]any
	}{
		{"claude-code", "Bash", map[string]any{"command": "cat /*/*/*/*/*/*/*/*/*; rm x"}},
		{"claude-code", "Bash", map[string]any{"command": strings.Repeat("rm ", 20_000)}},
		{"claude-code", "mcp__a__b", map[string]any{"p": slices.Repeat([]any{"'@ %2540file:%2525~/\\u0040x\\%2e/$HOME/é\ufeff.md '"}, 4000)}},
		{"codex", "apply_patch", map[string]any{"input": "*** Begin Patch\n" + strings.Repeat("*** Add File: docs/@x%2541\\u0040 a\n+x\n", 20_000) + "*** End Patch"}},
	} {
		for _, id := range []string{"s", "none"} {
			got := w.toolEvent(test.agent, id, test.tool, test.input)
			if len(got) > 2000 || !strings.Contains(got, `"deny"`) && (id == "s" || test.tool != "Bash") {
				t.Errorf("%s, session %s: %d bytes: %.200q", test.tool, id, len(got), got)
			}
		}
	}
}
