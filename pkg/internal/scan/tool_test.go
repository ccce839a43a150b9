package scan

import "testing"

func TestToolRisk(t *testing.T) {
	for _, c := range []struct {
		item            string
		wildcard, shell bool
	}{
		{"*", true, false},
		{"\"*\"", true, false},
		{"all", true, false},
		{"mcp__*", true, false},
		{"*(*)", true, false},
		{"Bash", false, true},
		{"Bash(*)", false, true},
		{"Bash(:*)", false, true},
		{"bash()", false, true},
		{"Bash(sh:*)", false, true},
		{"Bash(bash *)", false, true},
		{"run_shell_command", false, true},
		{"execute", false, true},
		{"runInTerminal", false, true},
		{"Bash(git:*)", false, false},
		{"Bash(gh pr:*)", false, false},
		{"Bash(shellcheck:*)", false, false},
		{"Bash(python *)", false, false},
		{"run_shell_command(ls)", false, false},
		{"Read", false, false},
		{"Read(*)", false, false},
		{"WebFetch(domain:*)", false, false},
		{"mcp__github__*", false, false},
		{"", false, false},
		{"(", false, false},
	} {
		wildcard, shell := ToolRisk(c.item)
		if wildcard != c.wildcard || shell != c.shell {
			t.Errorf("ToolRisk(%q) = %v, %v, want %v, %v", c.item, wildcard, shell, c.wildcard, c.shell)
		}
	}
}
