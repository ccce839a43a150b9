package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// filesServer is a third-party MCP server: it lists its working directory, and creates files there.
func filesServer() {
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	s.AddTool(&mcp.Tool{Name: "list", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		entries, err := os.ReadDir(".")
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return text(strings.Join(names, " ")), err
	})
	s.AddTool(&mcp.Tool{Name: "token", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(cmp.Or(os.Getenv("SKILLPM_MCP_TOKEN"), "none")), nil
	})
	s.AddTool(&mcp.Tool{Name: "make", InputSchema: schema}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ Name string }
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return text("made " + in.Name), os.WriteFile(in.Name, nil, 0o600)
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// TestO10Gateway checks that the tools of other MCP servers pass through `skillpm mcp --upstream`, and that each call
// is checked against the active skill: a call that it does not allow does not reach the server.
func TestO10Gateway(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	skill := filepath.Join(project, ".skillpm", "skills", "looker", "SKILL.md")
	text := "---\nname: looker\ndescription: Looks at files.\nallowed-tools: [mcp__files__list]\n---\nLook, and touch nothing.\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(skill), 0o700), os.WriteFile(skill, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	program := self(t)
	server := filepath.Join(filepath.Dir(program), "mcp-files")
	if err := os.Symlink(program, server); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-C", project, "mcp", "--upstream", "files="+server)
	cmd.Dir, cmd.Stderr = home, os.Stderr
	cmd.Env = append(os.Environ(), "SKILLPM_MCP_TOKEN=token-of-skillpm-alone", "HOME="+home, "XDG_CONFIG_HOME="+home+"/config", "XDG_STATE_HOME="+home+"/state", "XDG_CACHE_HOME="+home+"/cache", "XDG_DATA_HOME="+home+"/data")
	client, err := mcp.NewClient(&mcp.Implementation{Name: "client"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	call := func(name string, arguments map[string]any) (text string, failed bool) {
		t.Helper()
		res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range res.Content {
			if one, ok := c.(*mcp.TextContent); ok {
				text += one.Text
			}
		}
		return text, res.IsError
	}
	if text, failed := call("files__token", nil); failed || text != "none" {
		t.Errorf("the token of this server is handed on: %q", text)
	}
	made := func(name string) bool { _, err := os.Stat(filepath.Join(project, name)); return err == nil }
	if text, failed := call("files__make", map[string]any{"name": "before"}); failed || !made("before") {
		t.Fatalf("without an active skill the call did not pass: %s", text)
	}
	if text, failed := call("skill", map[string]any{"name": "looker"}); failed || !strings.Contains(text, "touch nothing") {
		t.Fatalf("the skill is not activated: %s", text)
	}
	refused, failed := call("files__make", map[string]any{"name": "while"})
	if !failed || made("while") || !strings.Contains(refused, "mcp__files__make") || !strings.Contains(refused, "looker") || !strings.Contains(refused, "skill_end") {
		t.Errorf("while the skill is active the call was not refused, naming tool, skill and the way out: %v %s", made("while"), refused)
	}
	if text, failed := call("files__list", nil); failed || !strings.Contains(text, "before") {
		t.Errorf("what the skill allows did not pass: %s", text)
	}
	if text, failed := call("skill_end", map[string]any{"name": "looker"}); failed {
		t.Errorf("the skill does not end: %s", text)
	}
	if text, failed := call("files__make", map[string]any{"name": "after"}); failed || !made("after") {
		t.Errorf("the tools were not given back: %s", text)
	}
	log, err := os.ReadFile(filepath.Join(home, "state", "skillpm", "audit", "audit.jsonl"))
	if err != nil || !strings.Contains(string(log), `"tool":"mcp__files__make"`) {
		t.Errorf("the refusal is not on record: %v\n%s", err, log)
	}
}
