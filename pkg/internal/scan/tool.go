package scan

import "strings"

// ToolRisk classifies one item of allowed-tools. A wildcard is an item that allows every tool: "*", "all", "mcp__*". An
// unscoped shell is a shell tool that allows every command: "Bash", "Bash(*)", "run_shell_command", and equivalents
// such as "Bash(sh:*)". "Bash(git:*)" is neither.
func ToolRisk(item string) (wildcard, unscopedShell bool) {
	item = strings.ToLower(strings.Trim(strings.TrimSpace(item), `"'`))
	name, scope, scoped := strings.Cut(item, "(")
	name = strings.TrimSpace(name)
	scope = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(scope), ")"))
	if scoped && strings.Trim(scope, "*: ") != "" {
		if !isShellTool(name) {
			return false, false
		}
		first, _, _ := strings.Cut(strings.FieldsFunc(scope, func(r rune) bool { return r == ':' || r == ' ' })[0], "*")
		return false, isShell([]byte(first)) || first == "eval"
	}
	switch name {
	case "*", "**", "*:*", "*/*", "all", "all_tools", "all-tools", "alltools", "mcp__*", "mcp:*", "mcp/*", "mcp__*__*":
		return true, false
	}
	return false, isShellTool(name)
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
