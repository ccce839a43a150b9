package tool

import (
	"path"
	"slices"
	"strings"
)

// What a tool does with skills, as [OfSkills] says.
const (
	Activate = "activate"
	ReadFile = "file"
	Run      = "run"
	Find     = "find"
	End      = "end"
)

// ofSkills are the tools that are for skills.
func ofSkills(name string) string {
	switch name {
	case "Skill", "skill", "use_skill", "activate_skill", "load_skill", "loadSkill":
		return Activate
	case "skill_file", "loadSkillFile":
		return ReadFile
	case "skill_run":
		return Run
	case "find_skills":
		return Find
	case "skill_end":
		return End
	}
	return ""
}

// servers are what agents put before the names of the tools of an MCP server that is called skillpm. Cursor does not
// say which server a tool is of.
func servers() []string {
	return []string{"mcp__skillpm__", "mcp_skillpm_", "skillpm__", "skillpm_", "skillpm-", "skillpm/", "MCP:"}
}

// OfSkills says what a tool does with skills, "" for one that has nothing to do with them, and whether it is one of an
// MCP server that is called skillpm: else it is the agent's own.
func OfSkills(tool string) (part string, ofServer bool) {
	for _, prefix := range servers() {
		if rest, ok := strings.CutPrefix(tool, prefix); ok {
			if part := ofSkills(rest); part != "" {
				return part, true
			}
		}
	}
	return ofSkills(tool), false
}

// behind returns the name that a tool has in lists: one that skillpm's own server hands on from the server FILES is
// mcp__FILES__TOOL, as if the agent had that server itself. Where an agent does not say which server a tool is of, it
// isn't told.
func behind(name string) string {
	for _, prefix := range servers() {
		rest, ok := strings.CutPrefix(name, prefix)
		if server, tool, two := strings.Cut(rest, "__"); ok && prefix != "MCP:" && two && server != "" && tool != "" {
			return "mcp__" + rest
		}
	}
	return name
}

// Writes reports whether a tool is one that creates, edits or deletes files.
func Writes(tool string) bool {
	if multi(tool) || patches(tool) {
		return true
	}
	switch Canonical(tool) {
	case "Write", "Edit", "NotebookEdit", "Delete":
		return true
	}
	return false
}

// Reads returns the paths that a call shows the content of, as it names them: those of a tool that reads files, and the
// words after the programs of a command line that print them. A line that can't be read shows nothing.
func (c Call) Reads() (paths []string) {
	for _, u := range c.uses() {
		switch {
		case u.row == nil || u.doubt != "":
		case u.tool == "Read":
			paths = append(paths, u.values...)
		case u.row.kind == shell || u.row.kind == powershell:
			paths = append(paths, u.readPaths()...)
		}
	}
	return paths
}

// OnlyReads returns the paths that a call shows the content of, where it does nothing else: one command that prints
// files, or a tool that reads them. It is nil where it may do more.
func (c Call) OnlyReads() (paths []string) {
	for _, u := range c.uses() {
		switch {
		case u.row == nil || u.doubt != "":
			return nil
		case u.tool == "Read":
			paths = append(paths, u.values...)
		case u.row.kind == shell:
			files := u.printedPaths()
			if files == nil {
				return nil
			}
			paths = append(paths, files...)
		default:
			return nil
		}
	}
	return paths
}

// printedPaths returns the files of a command line that prints files and does nothing else.
func (u *use) printedPaths() (paths []string) {
	commands, refused := u.commandsOf()
	if refused != "" || u.elsewhere != "" {
		return nil
	}
	dir := ""
	if len(commands) == 2 {
		if dir = commands[0].enters(""); dir == "" {
			return nil
		}
		commands = commands[1:]
	}
	if len(commands) != 1 {
		return nil
	}
	words := commands[0].words
	switch words[0].text {
	case "cat", "head", "tail", "nl":
	case "sed":
		if len(words) < 4 || words[1].text != "-n" || strings.Trim(words[2].text, "0123456789,$p") != "" {
			return nil
		}
		words = words[2:] // from its script on, which prints lines and does nothing else
	default:
		return nil
	}
	for _, w := range words[1:] {
		if w.loose || w.globs {
			return nil
		}
		if !strings.HasPrefix(w.text, "-") {
			paths = append(paths, inDirectory(dir, w.text))
		}
	}
	return paths
}

// enters returns the directory that a cd goes to from another one, "" for any other command, and for one that can't be
// told.
func (c command) enters(dir string) string {
	if len(c.words) != 2 || c.words[0].text != "cd" || c.words[1].loose || c.words[1].globs ||
		strings.HasPrefix(c.words[1].text, "-") {
		return ""
	}
	return inDirectory(dir, c.words[1].text)
}

// inDirectory returns a path as it is from the directory that another one is relative to.
func inDirectory(dir, p string) string {
	if dir == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || drive(p) {
		return p
	}
	return path.Join(dir, p)
}

// readPaths returns the words of a command line that may be files which it prints.
func (u *use) readPaths() (paths []string) {
	commands, refused := u.commandsOf()
	if refused != "" {
		commands = u.roughly()
	}
	dir := ""
	for _, c := range commands {
		if entered := c.enters(dir); entered != "" {
			dir = entered
			continue
		}
		i := slices.IndexFunc(c.words, func(w word) bool { return prints(path.Base(w.text)) })
		if i < 0 {
			continue
		}
		for _, w := range c.words[i+1:] {
			if !strings.HasPrefix(w.text, "-") && !w.loose {
				paths = append(paths, w.text)
				if in := inDirectory(dir, w.text); in != w.text {
					paths = append(paths, in) // or the cd was in a shell of its own
				}
			}
		}
	}
	return paths
}

// prints reports whether a program prints the files that it is given.
func prints(program string) bool {
	switch program {
	case "cat", "bat", "head", "tail", "less", "more", "nl", "sed", "awk", "tac", "type", "Get-Content", "gc":
		return true
	}
	return false
}

// roughly cuts a line that can't be read for certain at its operators and spaces, for those who only want to know what
// it may be about.
func (u *use) roughly() (commands []command) {
	for _, line := range u.values {
		if len(line) > maxLine {
			continue
		}
		for _, part := range strings.FieldsFunc(line, func(r rune) bool {
			return strings.ContainsRune(";&|\n()`", r)
		}) {
			part, _, _ = strings.Cut(part, ">")
			var c command
			for w := range strings.FieldsSeq(part) {
				c.words = append(c.words, word{text: strings.Trim(w, `"'`)})
			}
			if len(c.words) > 0 {
				commands = append(commands, c)
			}
		}
	}
	return commands
}
