package scan

import "testing"

func TestToolRisk(t *testing.T) {
	for _, c := range []struct {
		item string
		want Risk
	}{
		{"*", EveryTool},
		{"\"*\"", EveryTool},
		{"all", EveryTool},
		{"mcp__*", EveryMCPTool},
		{"\"MCP__*\"", EveryMCPTool},
		{"mcp__docs__*", NoRisk},
		{"*(*)", EveryTool},
		{"Bash", EveryCommand},
		{"Bash(*)", EveryCommand},
		{"Bash(:*)", EveryCommand},
		{"bash()", EveryCommand},
		{"Bash(sh:*)", EveryCommand},
		{"Bash(bash *)", EveryCommand},
		{"run_shell_command", EveryCommand},
		{"execute", EveryCommand},
		{"runInTerminal", EveryCommand},
		{"Bash(git:*)", NoRisk},
		{"Bash(gh pr:*)", NoRisk},
		{"Bash(shellcheck:*)", NoRisk},
		{"Bash(python *)", NoRisk},
		{"run_shell_command(ls)", NoRisk},
		{"Read", NoRisk},
		{"Read(*)", NoRisk},
		{"WebFetch(domain:*)", NoRisk},
		{"mcp__github__*", NoRisk},
		{"", NoRisk},
		{"(", NoRisk},
	} {
		if got := ToolRisk(c.item); got != c.want {
			t.Errorf("ToolRisk(%q) = %v, want %v", c.item, got, c.want)
		}
	}
}
