package tool

import (
	"slices"
	"strings"
)

// Agents without tools for files read with their shell, and some agents no longer offer a tool to search. So a command
// line of which all commands only read counts as the tools with the same effect: cat as Read, rg as Grep. It must have
// one of the exact forms of readingForms, written in literal words: a program that gets one unknown option can write
// files or run other programs.

// readings returns the effects of a command line that only reads; none for other lines.
func (c Call) readings(u *use) []use {
	if u.row == nil || u.row.kind != shell || u.doubt != "" || !u.literal() {
		return nil
	}
	dir := ""
	if u.elsewhere != "" {
		var ok bool
		if dir, ok = c.workDir(); !ok {
			return nil
		}
	}
	commands, refused := u.commandsOf()
	if refused != "" {
		return nil
	}
	var all []use
	for _, command := range commands {
		r, ok := command.reading()
		if !ok {
			return nil
		}
		for i, p := range r.values {
			r.values[i] = inDirectory(dir, p)
		}
		if r.called, r.exact = u.called, true; len(r.values) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// literal reports whether all words of a command line are literal. Without a shell, ~ is not the home directory.
func (u *use) literal() bool {
	if u.argv == nil {
		return literalLine(u.values[0])
	}
	return !slices.ContainsFunc(u.argv, func(w string) bool { return strings.HasPrefix(w, "~") })
}

// workDir returns the only working directory in the input of a command call.
func (c Call) workDir() (dir string, ok bool) {
	g := gatherer{fields: placeFields, kind: search}
	if g.input(c.Input) != "" || len(g.values) != 1 || strings.HasPrefix(g.values[0], "~") {
		return "", false
	}
	return g.values[0], true
}

// reading returns the effect of a command that only reads. A command that reads only its standard input has no paths.
func (c command) reading() (u use, ok bool) {
	words := make([]string, len(c.words))
	for i, w := range c.words {
		if words[i] = w.text; w.loose || w.globs {
			return use{}, false
		}
	}
	if len(words) == 0 {
		return use{}, false
	}
	form, ok := readingForms()[words[0]]
	if !ok {
		return use{}, false
	}
	a := readingArguments{form: form}
	if !form.parse(&a, words[1:]) {
		return use{}, false
	}
	tool := form.tool
	if a.listsOnly {
		tool = "Glob"
	}
	u = use{tool: tool, row: rows()[tool], values: a.paths, wholeTree: a.tree}
	if tool == "Glob" {
		u.alternative = "LS"
	}
	return u, true
}

// readingForm is the exact form of a command that only reads.
type readingForm struct {
	tool    string            // the tool with the same effect
	flags   string            // letters of options without a value
	valued  string            // letters of options with a value that has no effect but on the selection or the output
	numbers string            // letters of options whose value is a number
	names   string            // long options without a value, separated by spaces
	values  string            // long options with a value, separated by spaces
	tree    func(string) bool // whether options make a directory's tree part of the operands; nil for never
	parse   func(a *readingArguments, words []string) bool
}

// readingArguments are the parsed arguments of a command that only reads.
type readingArguments struct {
	form      readingForm
	options   string // letters of the options
	paths     []string
	tree      bool // the command reads everything below the paths
	listsOnly bool // it prints only names
}

// readingForms returns the forms by program. No option in them writes, runs a program, follows links, or reads a file
// that is not an operand. The user's aliases and settings, such as RIPGREP_CONFIG_PATH, are trusted.
func readingForms() map[string]readingForm {
	search := readingForm{
		tool: "Grep", numbers: "ABCm", parse: (*readingArguments).search,
		names: "ignore-case line-number files-with-matches count word-regexp fixed-strings invert-match only-matching " +
			"no-filename with-filename line-regexp text",
	}
	grep, rg := search, search
	grep.flags, grep.valued = "inlLcwxvsFEGoHhrqaIP", "e"
	grep.names += " recursive extended-regexp perl-regexp files-without-match no-messages quiet silent color"
	grep.values = "include exclude exclude-dir color regexp"
	grep.tree = func(options string) bool { return strings.Contains(options, "r") }
	rg.flags, rg.valued = "inlcwxvsSFoHINqaPUup0", "egtT"
	rg.numbers += "dM"
	rg.names += " hidden no-ignore smart-case files no-heading heading files-without-match pcre2 multiline pretty " +
		"null no-messages vimgrep"
	rg.values = "glob iglob type type-not color max-depth regexp sort max-count after-context before-context context"
	rg.tree = func(string) bool { return true }
	return map[string]readingForm{
		"cat":  {tool: "Read", flags: "n", parse: (*readingArguments).operands},
		"nl":   {tool: "Read", parse: (*readingArguments).numbered},
		"head": {tool: "Read", flags: "q", numbers: "nc", parse: (*readingArguments).ends},
		"tail": {tool: "Read", flags: "q", numbers: "nc", parse: (*readingArguments).ends},
		"wc":   {tool: "Read", flags: "lwcmL", parse: (*readingArguments).operands},
		"sed":  {tool: "Read", parse: (*readingArguments).printed},
		"ls": {
			tool: "Glob", flags: "1aAlhtrSRdFpgGoinsC", parse: (*readingArguments).listed,
			names: "all almost-all human-readable recursive reverse directory color", values: "color",
			tree: func(options string) bool { return strings.Contains(options, "R") },
		},
		"grep": grep,
		"rg":   rg,
		"find": {tool: "Glob", parse: (*readingArguments).found},
	}
}

// split parses options as getopt does, and returns the operands. Every operand must follow all options, because
// programs differ about options after operands.
func (a *readingArguments) split(words []string) (operands []string, ok bool) {
	for i := 0; i < len(words); i++ {
		text := words[i]
		switch {
		case text == "--":
			operands = words[i+1:]
			return operands, true
		case strings.HasPrefix(text, "--"):
			used, ok := a.long(text[2:], words[i+1:])
			if !ok {
				return nil, false
			}
			i += used
		case strings.HasPrefix(text, "-") && text != "-":
			used, ok := a.short(text[1:], words[i+1:])
			if !ok {
				return nil, false
			}
			i += used
		default:
			operands = words[i:]
			return operands, !slices.ContainsFunc(operands, func(w string) bool { return strings.HasPrefix(w, "-") })
		}
	}
	return nil, true
}

// long parses a long option, which must have its whole name, and returns how many of the next words are its value.
func (a *readingArguments) long(text string, next []string) (used int, ok bool) {
	name, _, valued := strings.Cut(text, "=")
	has := func(names string) bool { return slices.Contains(strings.Fields(names), name) }
	switch {
	case !valued && has(a.form.names):
	case valued && has(a.form.values):
	case has(a.form.values) && len(next) > 0:
		used = 1
	default:
		return 0, false
	}
	switch {
	case name == "regexp":
		a.options += "e"
	case name == "recursive" && a.form.tool == "Grep":
		a.options += "r"
	case name == "recursive":
		a.options += "R"
	case name == "files":
		a.listsOnly = true
	case name == "all":
		a.options += "a"
	}
	return used, true
}

// short parses a word of short options, and returns how many of the next words are its value.
func (a *readingArguments) short(letters string, next []string) (used int, ok bool) {
	for i := range len(letters) {
		letter := letters[i : i+1]
		number := strings.Contains(a.form.numbers, letter)
		switch {
		case strings.Contains(a.form.flags, letter):
			a.options += letter
			continue
		case !number && !strings.Contains(a.form.valued, letter):
			return 0, false
		}
		a.options += letter
		value := letters[i+1:]
		if value == "" {
			if len(next) == 0 {
				return 0, false
			}
			value, used = next[0], 1
		}
		return used, !number || isCount(value)
	}
	return 0, true
}

// isCount reports whether a text is a number of lines or bytes, such as 20, +20, or -20.
func isCount(text string) bool {
	if text != "" && strings.Contains("+-", text[:1]) {
		text = text[1:]
	}
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// operands is the form of programs whose operands are files: cat FILE…
func (a *readingArguments) operands(words []string) bool {
	operands, ok := a.split(words)
	a.addPaths(operands)
	return ok
}

// numbered is the form of nl: nl FILE…, or nl -ba FILE…
func (a *readingArguments) numbered(words []string) bool {
	if len(words) > 0 && words[0] == "-ba" {
		words = words[1:]
	}
	return a.operands(words)
}

// ends is the form of head and tail: head -n N FILE…, or head -N FILE…
func (a *readingArguments) ends(words []string) bool {
	if len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' && strings.Trim(words[0][1:], "0123456789") == "" {
		words = words[1:]
	}
	return a.operands(words)
}

// printed is the form of sed: sed -n A,Bp FILE…
func (a *readingArguments) printed(words []string) bool {
	if len(words) < 2 || words[0] != "-n" {
		return false
	}
	lines, printed := strings.CutSuffix(words[1], "p")
	from, to, two := strings.Cut(lines, ",")
	address := func(text string) bool { return text == "$" || text != "" && isCount(text) && text[0] >= '0' }
	if !printed || !address(from) || two && !address(to) {
		return false
	}
	a.addPaths(words[2:]) // some programs read options, and -- as a file, after the script
	return !slices.ContainsFunc(words[2:], func(w string) bool { return strings.HasPrefix(w, "-") })
}

// listed is the form of ls, which lists the current directory if it has no operands.
func (a *readingArguments) listed(words []string) bool {
	operands, ok := a.split(words)
	a.addPaths(operands)
	a.tree = a.form.tree(a.options)
	a.orHere()
	return ok && !(a.tree && strings.Contains(a.options, "a")) // some versions of uutils list everything below ..
}

// search is the form of grep and rg: options, PATTERN, and the files or directories. Without any, rg and grep -r search
// the current directory.
func (a *readingArguments) search(words []string) bool {
	operands, ok := a.split(words)
	if !ok {
		return false
	}
	if !a.listsOnly && !strings.Contains(a.options, "e") {
		if len(operands) == 0 {
			return false
		}
		operands = operands[1:]
	}
	a.addPaths(operands)
	if a.tree = a.form.tree(a.options); a.tree {
		a.orHere()
	}
	return true
}

// found is the form of find: find DIRECTORY… TESTS, in which no test runs a program, writes, or deletes.
func (a *readingArguments) found(words []string) bool {
	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") || w == "!" || w == "(" })
	if i < 0 {
		i = len(words)
	}
	a.addPaths(words[:i])
	a.tree = true
	a.orHere()
	for ; i < len(words); i++ {
		switch words[i] {
		case "-not", "!", "(", ")", "-o", "-or", "-a", "-and", "-print", "-print0", "-prune", "-empty":
		case "-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-type", "-maxdepth", "-mindepth", "-size",
			"-mtime", "-mmin":
			if i++; i == len(words) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// addPaths adds the operands but -, which is the standard input. rg cannot be told apart from a file - there.
func (a *readingArguments) addPaths(operands []string) {
	for _, p := range operands {
		if p != "-" {
			a.paths = append(a.paths, p)
		}
	}
}

func (a *readingArguments) orHere() {
	if len(a.paths) == 0 {
		a.paths = []string{"."}
	}
}

// refusesReadings returns why a list does not allow all effects of a command line that only reads, "" if it does. named
// reports that the list allows the tool of the refused effect for other paths.
func (l list) refusesReadings(c Call, readings []use) (reason string, named bool) {
	for i := range readings {
		tools := readings[i].asTools()
		for j := range tools {
			as := &tools[j]
			this := l.refuses(c, as)
			if this == "" {
				reason = ""
				break
			}
			named = slices.ContainsFunc(l.patterns, func(p Pattern) bool { return names(p, as) != not })
			if reason == "" || named {
				reason = this
			}
		}
		if reason != "" {
			return reason, named
		}
	}
	return "", false
}

// asTools returns a reading as each of the tools that have the same effect.
func (u *use) asTools() []use {
	if u.alternative == "" {
		return []use{*u}
	}
	other := *u
	other.tool, other.row = u.alternative, rows()[u.alternative]
	return []use{*u, other}
}

// own reports whether all that a use reads are files of active skills, which can always be read.
func (u *use) own(c Call) bool {
	switch u.tool {
	case "Read", "Grep", "Glob", "LS":
	default:
		return false
	}
	if c.OwnFile == nil || u.doubt != "" || len(u.values) == 0 {
		return false
	}
	for _, v := range u.values {
		locations, refused := u.locations(c, v)
		if refused != "" {
			return false
		}
		for _, l := range locations {
			for _, p := range append(c.resolvedPaths(l), l.cleaned) {
				if p == "" || !c.OwnFile(p, u.tool == "Grep") {
					return false
				}
			}
		}
	}
	return true
}
