package connect

import (
	"regexp"
	"strings"
	"sync"
)

// ServerName is the name that skillpm's MCP server has in the configuration of agents.
const ServerName = "skillpm"

// shellSafe reports whether every shell takes a word literally.
func shellSafe(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r) && (r < '0' || '9' < r) &&
			!strings.ContainsRune("_@%+=:,./-", r)
	})
}

// shellWord quotes a program's path for the shell of an agent's hooks. On Windows that is a POSIX shell, PowerShell, or
// cmd.exe, which agree on forward slashes and double quotes.
func shellWord(program, goos string) string {
	if goos == "windows" {
		program = strings.ReplaceAll(program, `\`, "/")
		if shellSafe(program) {
			return program
		}
		return `"` + program + `"`
	}
	if shellSafe(program) {
		return program
	}
	return "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
}

// shellPlain undoes shellWord.
func shellPlain(word string) string {
	switch {
	case len(word) > 1 && word[0] == '\'' && word[len(word)-1] == '\'':
		return strings.ReplaceAll(word[1:len(word)-1], `'\''`, "'")
	case len(word) > 1 && word[0] == '"' && word[len(word)-1] == '"':
		return word[1 : len(word)-1]
	default:
		return word
	}
}

// refuses ends a hook's command line so that the call is denied if skillpm is missing or fails. Codex and Gemini CLI
// deny a call only with a reason.
const refuses = " || { echo skillpm does not answer >&2; exit 2; }"

// hookCommand returns the command line of a hook.
func hookCommand(program, goos, event, agentID string) string {
	return shellWord(program, goos) + " hook " + event + " --agent " + agentID
}

// hookLine matches the command lines of hooks that skillpm wrote.
var hookLine = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^(\S.*) hook ([A-Za-z]+) --agent ([a-z-]+)$`) })

// hookProgram returns the program that a command line starts as an agent's hook, and whether calls are denied without
// it. The program is "" for any other command line, for example one that sets an environment variable.
func hookProgram(line, agentID string) (program string, closed bool) {
	line, closed = strings.CutSuffix(line, refuses)
	m := hookLine().FindStringSubmatch(line)
	if m == nil || m[3] != agentID {
		return "", false
	}
	program = shellPlain(m[1])
	switch {
	case m[1][0] == '\'' && m[1] != "'"+strings.ReplaceAll(program, "'", `'\''`)+"'":
		return "", false
	case m[1][0] == '"' && strings.ContainsAny(program, "\"$`"):
		return "", false
	case m[1] == program && strings.ContainsAny(program, " \t\r\n'\"$`;&|<>()*?#~"):
		return "", false
	}
	return program, closed
}

// isNamed reports whether the base name of a program is skillpm.
func isNamed(program string) bool {
	base := program[strings.LastIndexAny(program, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(base), ".exe") == ServerName
}

// alwaysLoad makes the server list the skills in the description of a tool that the agent always loads.
const alwaysLoad = "--always-load"

// serverArgs returns the arguments of the MCP server, followed by those that the user added.
func (h Agent) serverArgs(more []string) []string {
	args := []string{"mcp", "--agent", h.ID}
	if h.ignoresInstructions {
		args = append(args, alwaysLoad)
	}
	return append(args, more...)
}

// moreArgs returns the arguments that the user added: it undoes serverArgs.
func (h Agent) moreArgs(args []string) []string {
	var more []string
	host, always := false, !h.ignoresInstructions
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case !host && arg == "--agent" && i+1 < len(args):
			host = true
			i++
		case !host && strings.HasPrefix(arg, "--agent="):
			host = true
		case !always && arg == alwaysLoad:
			always = true
		default:
			more = append(more, arg)
		}
	}
	return more
}
