package capability

import (
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// The canonical names of tools that run commands.
const (
	shellName      = "Bash"
	powerShellName = "PowerShell"
)

func shellTool(name string) bool {
	name = tool.Canonical(name)
	return name == shellName || name == powerShellName
}

// anyCommand reports whether a command pattern allows any command: because it does not determine the program, as in
// `*rl x` and `py*`, or because the program runs other programs or code from its arguments, as in `env *`, `python3:*`,
// and `node -e *`.
func anyCommand(pattern string) bool {
	words := strings.Fields(strings.ReplaceAll(strings.ToLower(pattern), ":*", " *"))
	for i, word := range words {
		if word == "*" && i > 0 { // any arguments of a program that runs them
			return true
		}
		name := strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
		switch {
		case strings.Contains(name, "*"):
			return strings.HasPrefix(word, "*") ||
				slices.ContainsFunc(slices.Concat(runners, interpreters, finders), programMatcher(name))
		case slices.Contains(runners, name), i > 0 && strings.HasPrefix(word, "-"), strings.Contains(word, "="):
			continue // the program that it runs follows the flags
		case slices.Contains(interpreters, strings.TrimRight(name, "0123456789.")):
			return anyCode(words[i+1:])
		case slices.Contains(finders, name):
			return i+1 < len(words) && words[len(words)-1] == "*"
		}
		return false
	}
	return len(words) > 0 // a runner without further words
}

// programMatcher returns a function that reports whether a program's name matches a pattern such as `py*`.
func programMatcher(pattern string) func(string) bool {
	start, _, _ := strings.Cut(pattern, "*")
	return func(name string) bool { return strings.HasPrefix(name, start) }
}

// anyCode reports whether an interpreter with these arguments runs any file or code.
func anyCode(arguments []string) bool {
	for _, word := range arguments {
		switch {
		case strings.HasPrefix(word, "*"):
			return true
		case word == "-m":
			return false // a module's name comes next
		case strings.HasPrefix(word, "-"):
			if slices.Contains(codeFlags, word) {
				return true
			}
			continue
		}
		return false // a file
	}
	return true // without a file it reads code from its standard input
}

// runners are programs that run the command in their arguments.
var runners = []string{
	"env", "sudo", "doas", "su", "xargs", "nohup", "time", "timeout", "nice", "ionice", "command", "builtin", "exec",
	"eval", "setsid", "stdbuf", "busybox",
	"watch", "strace", "unshare", "chroot", "flock", "parallel", "npx", "uvx", "bunx", "pipx",
}

// interpreters are programs that run code from their arguments. Their names have no version here.
var interpreters = []string{
	"sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "csh", "tcsh", "pwsh", "powershell", "cmd",
	"python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "tclsh", "rscript", "osascript",
	"awk", "gawk", "mawk",
}

// codeFlags are interpreters' flags whose value is code.
var codeFlags = []string{
	"-c", "-e", "-p", "-r", "-lc", "-ic", "-pe", "-ne", "--eval", "--print", "-command",
	"-encodedcommand", "-",
}

// finders are programs that can run a command for each result.
var finders = []string{"find", "fd", "ssh"}
