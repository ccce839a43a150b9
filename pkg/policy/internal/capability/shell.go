package capability

import (
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// The canonical names of the tools that run commands.
const (
	shellName      = "Bash"
	powerShellName = "PowerShell"
)

func shellTool(name string) bool {
	name = tool.Canonical(name)
	return name == shellName || name == powerShellName
}

// anyCommand reports whether a pattern of commands comes to every command: one whose program is not told, as `*rl x`
// and `py*`, and one of a program that runs others, or the code that it is given, as `env *`, `python3:*` and `node -e
// *`.
func anyCommand(pattern string) bool {
	words := strings.Fields(strings.ReplaceAll(strings.ToLower(pattern), ":*", " *"))
	for i, word := range words {
		if word == "*" && i > 0 { // any arguments, of a program that runs them
			return true
		}
		name := strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
		switch {
		case strings.Contains(name, "*"):
			return strings.HasPrefix(word, "*") ||
				slices.ContainsFunc(slices.Concat(runners, interpreters, finders), programMatcher(name))
		case slices.Contains(runners, name), i > 0 && strings.HasPrefix(word, "-"), strings.Contains(word, "="):
			continue // what it runs is the next word that is no flag
		case slices.Contains(interpreters, strings.TrimRight(name, "0123456789.")):
			return anyCode(words[i+1:])
		case slices.Contains(finders, name):
			return i+1 < len(words) && words[len(words)-1] == "*"
		}
		return false
	}
	return len(words) > 0 // a runner with nothing behind it
}

// programMatcher returns what reports whether a name begins as a pattern does before its star, as python with `py*`.
func programMatcher(pattern string) func(string) bool {
	start, _, _ := strings.Cut(pattern, "*")
	return func(name string) bool { return strings.HasPrefix(name, start) }
}

// anyCode reports whether an interpreter runs what it is given with these arguments: any file, or code.
func anyCode(arguments []string) bool {
	for _, word := range arguments {
		switch {
		case strings.HasPrefix(word, "*"):
			return true
		case word == "-m":
			return false // a module: its name comes next
		case strings.HasPrefix(word, "-"):
			if slices.Contains(codeFlags, word) {
				return true
			}
			continue
		}
		return false // a file
	}
	return true // nothing is named: it reads what is written to it
}

// runners are programs that run the command that follows them.
var runners = []string{
	"env", "sudo", "doas", "su", "xargs", "nohup", "time", "timeout", "nice", "ionice", "command", "builtin", "exec",
	"eval", "setsid", "stdbuf", "busybox",
	"watch", "strace", "unshare", "chroot", "flock", "parallel", "npx", "uvx", "bunx", "pipx",
}

// interpreters are programs that run the code that they are given, without the version at the ends of their names.
var interpreters = []string{
	"sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "csh", "tcsh", "pwsh", "powershell", "cmd",
	"python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "tclsh", "rscript", "osascript",
	"awk", "gawk", "mawk",
}

// codeFlags are flags behind which interpreters are given code.
var codeFlags = []string{
	"-c", "-e", "-p", "-r", "-lc", "-ic", "-pe", "-ne", "--eval", "--print", "-command",
	"-encodedcommand", "-",
}

// finders are programs that run a command for what they find, if they are told to by an argument.
var finders = []string{"find", "fd", "ssh"}
