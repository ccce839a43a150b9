package attach

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ServerName is the name that skillpm's MCP server has in the configuration of hosts.
const ServerName = "skillpm"

// shellSafe reports whether no shell changes a word.
func shellSafe(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r) && (r < '0' || '9' < r) && !strings.ContainsRune("_@%+=:,./-", r)
	})
}

// shellWord writes a program's path so that the shell of a host's hooks takes it as one word. On Windows that is a POSIX
// shell, PowerShell or cmd.exe, which agree on forward slashes and double quotes.
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

// hookCommand is the command line of a hook.
func hookCommand(program, goos, event, host string) string {
	return shellWord(program, goos) + " hook " + event + " --host " + host
}

// ourHook is what command lines of hooks look like that skillpm wrote, whatever the program is called and wherever it is.
var ourHook = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S.* hook ([A-Za-z]+) --host ([a-z-]+)$`) })

// isOurHook reports whether a command line is skillpm's hook for a host.
func isOurHook(command any, host string) bool {
	line, _ := command.(string)
	m := ourHook().FindStringSubmatch(line)
	return m != nil && m[2] == host
}

// serverArgs are what the program is started with as an MCP server.
func serverArgs(host string) []string { return []string{"mcp", "--host", host} }

// isOurServer reports whether a command with its arguments is skillpm's MCP server.
func isOurServer(command string, args []string) bool {
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	base = strings.TrimSuffix(strings.ToLower(base), ".exe")
	return len(args) > 0 && args[0] == "mcp" && (base == "skillpm" || slices.Contains(args, "--host"))
}
