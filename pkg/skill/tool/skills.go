package tool

import (
	"path"
	"slices"
	"strings"
)

// Operations on skills, as [OfSkills] returns them.
const (
	Activate = "activate"
	ReadFile = "file"
	Run      = "run"
	Find     = "find"
	End      = "end"
)

// ofSkills are the tools for skills.
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

// servers are the agents' prefixes for the tools of an MCP server named skillpm. Cursor does not name the server of a
// tool.
func servers() []string {
	return []string{"mcp__skillpm__", "mcp_skillpm_", "skillpm__", "skillpm_", "skillpm-", "skillpm/", "MCP:"}
}

// OfSkills returns the operation of a tool on skills, or "", and whether the tool belongs to an MCP server named
// skillpm. Otherwise it is the agent's own.
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

// behind returns the name of a tool in lists. A tool that skillpm's gateway serves from the server FILES is
// mcp__FILES__TOOL, as if the agent used that server directly. For agents that do not name the server, it is unknown.
func behind(name string) string {
	for _, prefix := range servers() {
		rest, ok := strings.CutPrefix(name, prefix)
		if server, tool, two := strings.Cut(rest, "__"); ok && prefix != "MCP:" && two && server != "" && tool != "" {
			return "mcp__" + rest
		}
	}
	return name
}

// Writes reports whether a tool creates, edits, or deletes files.
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

// MayWrite reports whether a call may write files with a tool that is not a shell: its tool does, or is unknown.
// Whether the tool of an MCP server only reads is decided by the name of the tool, not by what the server declares: a
// server that writes with a tool called read_file can write without any call.
func (c Call) MayWrite() bool {
	if Writes(c.Tool) {
		return true
	}
	if Own(c.Tool) || rows()[c.Tool] != nil {
		return false
	}
	name := c.Tool
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	switch Canonical(strings.TrimPrefix(name, "MCP:")) {
	case "Read", "NotebookRead", "Grep", "Glob", "LS":
		return false
	}
	return !slices.Contains(strings.Fields(serverReads), name)
}

// serverReads are common names of MCP tools that only read files, and are not in the table.
const serverReads = "read_text_file read_media_file read_multiple_files list_directory_with_sizes directory_tree " +
	"get_file_info list_allowed_directories"

// Reads returns the paths whose content a call shows, in every spelling: those of a tool that reads files, and the
// arguments of commands that print files. A line that cannot be parsed has none.
func (c Call) Reads() (paths []string) {
	for _, u := range c.uses() {
		switch {
		case u.row == nil || u.doubt != "":
		case u.tool == "Read":
			paths = append(paths, c.spellAll(u.values)...)
		case u.row.kind == shell || u.row.kind == powershell:
			paths = append(paths, u.readPaths()...)
		}
	}
	return paths
}

// OnlyReads returns the paths whose content a call shows if it does nothing else: one command that prints files, or a
// tool that reads them. Otherwise it returns nil.
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

// printedPaths returns the files of a command line that only prints files, perhaps after a cd command.
func (u *use) printedPaths() (paths []string) {
	if u.elsewhere != "" || !u.literal() {
		return nil
	}
	commands, refused := u.commandsOf()
	if refused != "" {
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
	r, ok := commands[0].reading()
	if !ok || r.tool != "Read" || !prints(commands[0].words[0].text) {
		return nil
	}
	for _, p := range r.values {
		paths = append(paths, inDirectory(dir, p))
	}
	return paths
}

// enters returns the directory after a cd command; "" for other commands or if it is unknown.
func (c command) enters(dir string) string {
	if len(c.words) != 2 || c.words[0].text != "cd" || c.words[1].loose || c.words[1].globs ||
		strings.HasPrefix(c.words[1].text, "-") {
		return ""
	}
	return inDirectory(dir, c.words[1].text)
}

// inDirectory returns a path relative to the base of the given directory.
func inDirectory(dir, p string) string {
	if dir == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || drive(p) {
		return p
	}
	return path.Join(dir, p)
}

// readPaths returns the words of a command line that may be printed files.
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
					paths = append(paths, in) // or the cd ran in a subshell
				}
			}
		}
	}
	return paths
}

// prints reports whether a program prints its file arguments.
func prints(program string) bool {
	switch program {
	case "cat", "bat", "head", "tail", "less", "more", "nl", "sed", "awk", "tac", "type", "Get-Content", "gc":
		return true
	}
	return false
}

// roughly splits a line that cannot be parsed at operators and spaces, for callers that need only an approximation.
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
