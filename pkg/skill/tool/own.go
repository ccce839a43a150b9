package tool

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// maxNested is how many command lines within command lines are read, such as sh -c "sh -c '...'".
const maxNested = 4

// ownRule is whether an agent whose tools are restricted may run a command of skillpm.
type ownRule int

const (
	ownUnknown ownRule = iota // denied, because a new command may grant something
	ownDenied                 // it changes what is allowed, connected, or trusted, or runs other programs
	ownAllowed                // the agent may run it if its tool restrictions allow the command line
	ownGroup                  // the subcommand decides
)

// ruleOf returns the rule for a command of skillpm, with a subcommand if it is in a group of mixed rules.
func ruleOf(command string) ownRule {
	switch command {
	case "approve", "connect", "deactivate", "deploy", "disconnect", "enterprise", "hook", "key", "link", "login",
		"logout", "lsp", "mcp", "message", "registry", "self-update", "sign", "trust", "try", "yank",
		"config merge-driver", "config set", "config sync", "index advisory", "index serve", "policy init", "session end",
		"task submit": // message and task submit act for a user, and the agent of a task has its own restrictions
		return ownDenied
	case "cache", "config", "index", "policy", "profile", "session", "task":
		return ownGroup
	case "completion", "explain", "help", "schema", "version",
		"install", "add", "i", "remove", "rm", "update", "up", "outdated", "list", "ls", "info", "show", "search",
		"diff", "audit",
		"why", "verify", "import", "tree", "vendor", "doctor",
		"init", "new", "validate", "lint", "check", "test", "publish",
		"agents", "budget", "skills", "find", "run", "which", "prompt", "load", "read", "dispatch",
		"deny", "log",
		"cache gc", "cache prune", "cache clean", "cache list", "cache ls", "cache path", "cache verify",
		"config get", "config list", "config ls", "config path",
		"index add", "index build", "index check", "index init", "index publish", "index site",
		"policy check", "policy explain",
		"profile check", "profile list", "profile path", "profile show",
		"session allow", "session list", "session ls", "session show",
		"task cancel", "task list", "task ls", "task show", "task wait":
		return ownAllowed
	}
	return ownUnknown
}

// grants reports whether a flag of skillpm lowers a check, confirms, grants, undoes a denial, or runs a program. The
// output of commands that only show something must not overwrite files either.
func grants(command, flag string) bool {
	switch flag {
	case "accept-changed", "accept-signer", "allow-dirty", "allow-downgrade", "allow-origin", "allow-shell", "anyway",
		"command", "config", "env", "force", "key", "no-hooks", "no-skills", "registry", "rerank", "signing-key",
		"test-report", "trigger", "undo", "upstream", "upstream-config", "write-baseline", "yes":
		return true
	case "output", "html":
		return command == "log" || command == "validate" || command == "lint" || command == "check" || command == "test"
	case "agent", "agent-args":
		return command == "test" // runs a program
	}
	return false
}

// ownRefused returns the command of skillpm that a use would run although no agent may run it while tools are
// restricted, or a command whose program is unknown and could be skillpm; "" for none. Otherwise a skill could lift
// restrictions from within: with an approval, a changed policy, or a changed connection. A copy of the program under
// another name is not found; only an allow list prevents that.
func (u *use) ownRefused(c Call) string {
	if u.row == nil {
		return ""
	}
	switch writesShell := u.row.whole && (u.row.with == "Bash" || u.row.with == "PowerShell"); {
	case writesShell, (u.row.kind == shell || u.row.kind == powershell) && u.doubt != "":
		return refusedInTexts(inputTexts(c.Input), u.row.kind)
	case u.row.kind != shell && u.row.kind != powershell:
		return ""
	}
	commands, refused := u.commandsOf()
	if refused != "" || u.row.kind == powershell {
		return refusedInTexts(append(slices.Clone(u.values), u.argv...), u.row.kind)
	}
	return refusedAmong(commands, 0, true)
}

// refusedInTexts is ownRefused for texts that may be command lines.
func refusedInTexts(lines []string, k kind) string {
	if refused := refusedRoughly(strings.Join(lines, "\n")); refused != "" {
		return refused
	}
	for _, line := range lines {
		var refused string
		if k == powershell {
			refused = unknownInPowerShell(line)
		} else {
			refused = refusedAmong(everyCommand(line), 0, true)
		}
		if refused != "" {
			return refused
		}
	}
	return ""
}

// refusedAmong is ownRefused for the commands of a line. run is false if the line is a text that may not be a command
// line: then only skillpm counts, and no unknown program.
func refusedAmong(commands []command, depth int, run bool) string {
	for _, command := range commands {
		if refused := refusedIn(command.words, depth, run); refused != "" {
			return refused
		}
	}
	return ""
}

// inputTexts returns all texts in an input.
func inputTexts(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []string:
		return v
	case []any:
		for _, item := range v {
			texts = append(texts, inputTexts(item)...)
		}
	case map[string]any:
		for _, item := range v {
			texts = append(texts, inputTexts(item)...)
		}
	}
	return texts
}

// refusedRoughly looks for skillpm in a text that is not a command line, or cannot be parsed as one, ignoring its
// quotes. A backslash may quote a character, or separate directories. A backtick may quote a character in PowerShell.
func refusedRoughly(text string) string {
	text = strings.NewReplacer(`'`, "", `"`, "", "^", "", "\\\n", "", "`\n", "").Replace(text)
	for _, replacer := range []*strings.Replacer{
		strings.NewReplacer(`\`, ""), strings.NewReplacer(`\`, "/"), strings.NewReplacer("`", ""),
		strings.NewReplacer(".", " "), // a method of a string, such as 'skillpm list'.split()
	} {
		replaced := replacer.Replace(text)
		fields := strings.FieldsFunc(replaced, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune("`();&|{}<>[],", r)
		})
		words := make([]word, len(fields))
		for i, field := range fields {
			words[i] = word{text: field, loose: strings.Contains(field, "$")}
		}
		for i := range words {
			if strings.HasSuffix(ownBase(words[i].text), "skillpm") {
				if refused := refusedCommand(words[i+1:], false); refused != "" {
					return refused
				}
			}
		}
	}
	return ""
}

// refusedIn returns the refused command of skillpm in a simple command, also behind a program that runs it, such as
// sudo, xargs, or sh -c; "" for none.
func refusedIn(words []word, depth int, run bool) string {
	program, afterFlag := true, false // program: the word may be the program
	appends, unknown := false, false  // unknown: an argument that is appended is the program
	for i, w := range words {
		flag := strings.HasPrefix(w.text, "-")
		switch {
		case (isAssignment(w.text) || strings.Contains(w.text, "=!") || words[0].text == "hash") && isOwn(w.text):
			return w.text // a variable or an alias for the program
		case run && program && !flag && !isAssignment(w.text) && !isOwn(w.text) && (w.text == "{}" || couldBeOwn(w)):
			return w.text
		case appends && (isOwn(w.text) || program && replaced(words[:i], w)):
			return w.text // with unknown arguments
		}
		variant := strings.HasPrefix(ownBase(w.text), "skillpm") && !strings.HasSuffix(w.text, ":") // skillpm-dev
		if isOwn(w.text) || program && variant {
			if refused := refusedCommand(words[i+1:], program); refused != "" {
				return refused
			}
		}
		if refused := refusedWithin(words[i:], program, depth, run); refused != "" {
			return refused
		}
		starts := prefixes(w) || runs(words[i:i+1]) || launches(w)
		unknown = program && starts && (appends || path.Base(w.text) == "parallel") || unknown && program
		appends = appends || appendsArguments(w)
		program = program && (flag || afterFlag || isAssignment(w.text) || starts || isDuration(w.text)) || executes(w)
		afterFlag = flag && !executes(w)
	}
	if run && unknown && program {
		return joined(words).text
	}
	return ""
}

// refusedWithin returns the refused command in a word that is a command line, or contains one.
func refusedWithin(words []word, program bool, depth int, run bool) string {
	if depth == maxNested {
		return ""
	}
	if script, ok := scriptOf(words, program); ok {
		if run && (script.loose || script.text == "") {
			return strings.TrimSpace(words[0].text + " " + script.text)
		}
		if refused := refusedInLine(script.text, depth+1, run); refused != "" {
			return refused
		}
	}
	text := words[0].text
	if strings.ContainsFunc(text, unicode.IsSpace) {
		if refused := refusedInLine(text, depth+1, false); refused != "" {
			return refused
		}
	}
	if len(text) > len("skillpm") {
		return refusedRoughly(strings.NewReplacer("=", " ", "!", " ", "::", " ").Replace(text))
	}
	return ""
}

// launches reports whether a word belongs to a command that starts the program after it.
func launches(w word) bool {
	switch path.Base(w.text) {
	case "go", "run", "tool", "timeout", "npx", "pnpm", "bunx", "mise", "setsid", "stdbuf", "parallel", "noglob",
		"nocorrect":
		return true
	}
	return false
}

// executes reports whether a flag starts the program after it.
func executes(w word) bool {
	switch w.text {
	case "-exec", "-execdir", "-ok", "-okdir":
		return true
	}
	return false
}

// appendsArguments reports whether a program runs another one with arguments that are unknown.
func appendsArguments(w word) bool {
	base := path.Base(w.text)
	return base == "xargs" || base == "parallel"
}

// replaced reports whether xargs or parallel replaces a word by an argument. words are those before it.
func replaced(words []word, w word) bool {
	for i, before := range words {
		if before.text == "-I"+w.text || before.text == "-I" && i+1 < len(words) && words[i+1].text == w.text {
			return true
		}
	}
	return false
}

// isDuration reports whether a word is a number, such as the time limit of timeout.
func isDuration(text string) bool {
	return text != "" && strings.Trim(text, "0123456789.smhd") == ""
}

// refusedInLine is refusedIn for a command line within a word.
func refusedInLine(line string, depth int, run bool) string {
	commands, refused := split(line)
	if refused != "" {
		if refused := refusedRoughly(line); refused != "" {
			return refused
		}
		commands = everyCommand(line)
	}
	return refusedAmong(commands, depth, run)
}

// isAssignment reports whether a word before a command sets a variable.
func isAssignment(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && name != "" && strings.Trim(name, letters+"0123456789_+[]") == ""
}

// isOwn reports whether a word can name the program skillpm: with a directory, as a program of Windows, as a Go package
// with a version, or as the value or name of a variable.
func isOwn(text string) bool {
	return ownBase(text) == "skillpm"
}

// ownBase returns the name of a program without directory, version, and extension, in lower case.
func ownBase(text string) string {
	text = strings.TrimRight(strings.ReplaceAll(strings.ToLower(text), `\`, "/"), "/")
	if isAssignment(text) {
		_, text, _ = strings.Cut(text, "=")
	}
	text = path.Base(text)
	text = text[strings.LastIndexAny(text, "#!=")+1:] // nixpkgs#skillpm, alias.x=!skillpm, =skillpm of zsh
	if i := strings.IndexAny(text, "@:"); i > 0 && i < len(text)-1 {
		text = text[:i]
	}
	return strings.TrimSuffix(strings.Trim(text, "${}"), ".exe")
}

// refusedCommand returns the refused command of skillpm in the words after the program's name, "" for none. If it is
// uncertain that the name is the program's and not an argument's, such as a directory, only known commands count.
func refusedCommand(words []word, certain bool) string {
	command, rest := "", words
	for rule := ownGroup; rule == ownGroup; {
		i, unclear := afterOwnFlags(rest)
		if i == len(rest) {
			return "" // prints help or the version
		}
		next := strings.TrimSpace(command + " " + rest[i].text)
		switch unclear = unclear || rest[i].loose || rest[i].globs; {
		case unclear && (certain || command != "" || strings.Contains(rest[i].text, "$")):
			return "skillpm " + next
		case unclear:
			return deniedAmong(rest[i:])
		}
		command, rest = next, rest[i+1:]
		switch rule = ruleOf(command); {
		case rule == ownDenied, rule == ownUnknown && certain:
			return "skillpm " + command
		case rule == ownUnknown:
			return ""
		}
	}
	return refusedFlag(command, rest)
}

// deniedAmong returns the first denied command, or flag that grants, in words that may be a command line of skillpm.
func deniedAmong(words []word) string {
	for i, w := range words {
		command, group := w.text, ruleOf(w.text) == ownGroup
		if group && i+1 < len(words) {
			command += " " + words[i+1].text
		}
		if ruleOf(command) == ownDenied || strings.HasPrefix(w.text, "--") && grants("", w.text[2:]) {
			return "skillpm " + command
		}
	}
	return ""
}

// afterOwnFlags returns the index of the first word after global flags of skillpm, and whether that word is another
// flag, whose value could hide the command.
func afterOwnFlags(words []word) (index int, unclear bool) {
	for i := 0; i < len(words); i++ {
		text := words[i].text
		if !strings.HasPrefix(text, "-") {
			return i, false
		}
		name, _, valued := strings.Cut(text, "=")
		switch {
		case words[i].loose || words[i].globs:
			return i, true
		case text == "--":
		case !strings.HasPrefix(text, "--") && strings.Trim(text, "-qvVh") == "C":
			i++ // the next word is the directory
		case !strings.HasPrefix(text, "--") && (strings.Trim(text, "-qvVh") == "" || strings.HasPrefix(text, "-C")):
		case name == "--directory" || name == "--color":
			if !valued {
				i++
			}
		case name == "--json" || name == "--quiet" || name == "--verbose" || name == "--version" || name == "--help":
		default:
			return i, true
		}
	}
	return len(words), false
}

// refusedFlag returns the command with a flag that agents may not use while tools are restricted, or with a word that
// could become one, "" for none.
func refusedFlag(command string, words []word) string {
	top, _, _ := strings.Cut(command, " ")
	for _, w := range words {
		name, _, _ := strings.Cut(w.text, "=")
		switch {
		case w.text == "--":
			return ""
		case strings.HasPrefix(name, "--") && grants(top, name[2:]),
			strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && strings.Contains(name, "o") &&
				grants(top, "output"),
			(w.loose || w.globs) && strings.IndexAny(w.text, "-$*?[{") == 0:
			return "skillpm " + command + " " + name
		}
	}
	return ""
}
