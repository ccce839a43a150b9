package scan

import "strings"

// A Risk is what one item of allowed-tools allows without a confirmation.
type Risk uint8

// The risks.
const (
	NoRisk       Risk = iota // such as "Read" and "Bash(git:*)"
	EveryTool                // "*" and "all"
	EveryMCPTool             // "mcp__*": every tool of every MCP server
	EveryCommand             // "Bash", "Bash(*)", "run_shell_command", and equivalents such as "Bash(sh:*)"
)

// ToolRisk classifies one item of allowed-tools.
func ToolRisk(item string) Risk {
	item = strings.ToLower(strings.Trim(strings.TrimSpace(item), `"'`))
	name, scope, scoped := strings.Cut(item, "(")
	name = strings.TrimSpace(name)
	scope = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(scope), ")"))
	if scoped && strings.Trim(scope, "*: ") != "" {
		if !isShellTool(name) {
			return NoRisk
		}
		first, _, _ := strings.Cut(strings.FieldsFunc(scope, func(r rune) bool { return r == ':' || r == ' ' })[0], "*")
		if isShell([]byte(first)) || first == "eval" {
			return EveryCommand
		}
		return NoRisk
	}
	switch name {
	case "*", "**", "*:*", "*/*", "all", "all_tools", "all-tools", "alltools":
		return EveryTool
	case "mcp__*", "mcp:*", "mcp/*", "mcp__*__*":
		return EveryMCPTool
	}
	if isShellTool(name) {
		return EveryCommand
	}
	return NoRisk
}

// isShellTool reports whether a tool, in lower case, runs any command in any of the agents.
func isShellTool(name string) bool {
	switch name {
	case "bash", "shell", "sh", "zsh", "powershell", "cmd", "terminal", "run_shell_command", "shelltool", "execute",
		"execute_command", "execute_bash", "exec", "exec_command", "run_command", "run_terminal_cmd",
		"run_terminal_command",
		"run_in_terminal", "runinterminal", "execute/runinterminal", "runcommands", "local_shell", "local_shell_call",
		"developer__shell", "container.exec", "command":
		return true
	}
	return false
}
