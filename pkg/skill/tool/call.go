package tool

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Call is a tool call, with the agent's name for the tool and its input.
type Call struct {
	Tool  string         `json:"tool"`
	Input map[string]any `json:"input,omitempty"`

	// Project is the absolute base directory of file patterns. Without it, patterns only allow relative paths of a
	// call.
	Project string `json:"-"`
	// Dir is the absolute base directory of the call's own paths; "" means Project.
	Dir string `json:"-"`
	// First is the working directory in which the session began: files in it are guarded, too. "" means Project.
	First string `json:"-"`
	// Home replaces ~. Without it, patterns do not allow paths that start with ~.
	Home string `json:"-"`
	// Real resolves the links of an absolute path as the system does. The path may contain .., and a missing path
	// resolves to where it would be created. "" means unknown, and the call is denied. If Real is set, both the path
	// and its target must be allowed.
	Real func(path string) string `json:"-"`
	// Aliases returns the paths of a file that nothing may write to, for another path of the same file without links: that
	// of a hard link, a mount, or below /System/Volumes/Data on macOS. Nil if they are unknown.
	Aliases func(path string) []string `json:"-"`
	// Find returns the files of the project whose paths end with one of some relative paths, if there is no file at
	// that path; false if the project is too large to search. Nil for none.
	Find func(paths []string) (files []string, ok bool) `json:"-"`
	// OwnFile reports whether an absolute path is of an active skill, whose files can always be read. If tree is set,
	// it is a directory that is searched, so that every file in it must be one that can be read. Nil for no.
	OwnFile func(path string, tree bool) bool `json:"-"`
	// Windows means that the agent passes command lines to PowerShell or cmd.
	Windows bool `json:"-"`
	// Spellings are those that the agent accepts for a path. The call is checked for each.
	Spellings Spellings `json:"-"`
	// Directory names the fields in which the agent's tools for searching expect a directory, separated by spaces; ""
	// for any.
	Directory string `json:"-"`

	work *work // what was spent on the call's paths
}

// use is one effect of a call. Most calls have one; a patch has one for each file.
type use struct {
	tool   string // canonical
	called string // the agent's name
	row    *row   // nil if the table does not have the tool
	values []string
	argv   []string // of a command that runs without a shell
	doubt  string   // why the arguments are unknown

	elsewhere string // why the command may differ from what patterns expect

	exact       bool   // a program opens the paths as they are written
	wholeTree   bool   // a reading of everything below its paths
	alternative string // a reading's other tool with the same effect

	cut      bool // commands and refused are computed
	commands []command
	refused  string
}

// uses returns the effects of a call.
func (c Call) uses() []use {
	if patches(c.Tool) {
		return c.patch()
	}
	name := c.Tool
	if multi(name) {
		name = "Edit"
		commands := gatherer{fields: "command"}
		if commands.input(c.Input) == "" && len(commands.values) == 1 {
			switch commands.values[0] {
			case "view":
				name = "Read"
			case "create":
				name = "Write"
			}
		}
	}
	r, ok := rows()[name]
	if !ok {
		return []use{{tool: behind(name), called: c.Tool}}
	}
	u := use{tool: r.name, called: c.Tool, row: r}
	switch r.kind {
	case plain:
	case shell, powershell:
		c.commandLine(&u)
	case file:
		fields := r.fields
		if multi(c.Tool) {
			fields = "path file_path"
		}
		c.fill(&u, fields)
		if Writes(name) && c.hasPatch() {
			uses := c.patch()
			if len(u.values) > 0 { // which one the agent takes is unknown
				uses = append(uses, u)
			}
			return uses
		}
	default:
		c.fill(&u, r.fields)
	}
	return []use{u}
}

// patches reports whether a tool takes a patch, which names its files.
func patches(tool string) bool {
	switch tool {
	case "apply_patch", "applyPatch", "ApplyPatch", "patch":
		return true
	}
	return false
}

// multi reports whether a tool reads, writes, or edits, depending on its command field.
func multi(tool string) bool {
	switch tool {
	case "str_replace_editor", "str_replace_based_edit_tool", "text_editor", "developer__text_editor", "fs_write":
		return true
	}
	return false
}

// fill reads all fields that may hold the arguments. Which one an agent uses is unknown, so all count.
func (c Call) fill(u *use, fields string) {
	g := gatherer{fields: fields, kind: u.row.kind}
	if u.doubt = g.input(c.Input); u.doubt != "" {
		return
	}
	u.values = g.values
	if u.row.kind == address {
		c.addRequests(u)
	}
	switch {
	case u.doubt != "":
	case u.row.kind == search:
		c.searched(u)
	case len(u.values) == 0:
		u.doubt = "its input does not contain a value in any of the fields " + strings.Join(strings.Fields(fields),
			", ")
	case c.Tool == "read_many_files":
		c.readMany(u)
	}
}

// addRequests adds the URLs in a question about a page, if the tool may fetch them.
func (c Call) addRequests(u *use) {
	if len(u.values) > 0 && c.Tool != "web_fetch" {
		return
	}
	prompt := gatherer{fields: "prompt", kind: search}
	if u.doubt = prompt.input(c.Input); u.doubt != "" {
		return
	}
	values, ok := addresses(prompt.values)
	if !ok {
		u.doubt = "its prompt contains ambiguous URLs"
	}
	u.values = append(u.values, values...)
}

// readMany adds the patterns of a tool that reads all matching files.
func (c Call) readMany(u *use) {
	g := gatherer{fields: "include", kind: file}
	u.doubt = g.input(c.Input)
	u.values = append(u.values, g.values...)
	for _, v := range u.values {
		if leaves(v) {
			u.doubt = "its pattern " + quoted(v) + " can match files outside the directory that it begins with"
		}
	}
}

// leaves reports whether a pattern may match files outside the directory before its first wildcard.
func leaves(pattern string) bool {
	i := strings.IndexAny(pattern, wildcards)
	if i < 0 {
		return false
	}
	dots := 0 // in alternatives such as {.,a}{.,a}, which can become ..
	if strings.ContainsAny(pattern, "{(") {
		isBorder := func(r rune) bool { return strings.ContainsRune("{},()|/", r) }
		for part := range strings.FieldsFuncSeq(pattern, isBorder) {
			if strings.Trim(part, ".") == "" {
				dots += len(part)
			}
		}
	}
	leaving := []string{"..", `\`, "{/", ",/", "(/", "|/", "{~", ",~"}
	return dots > 1 || slices.ContainsFunc(leaving, func(part string) bool {
		return strings.Contains(pattern[i:], part)
	})
}

// wildcards are the characters that start the variable part of a file pattern.
const wildcards = `*?[{(\`

// searched adds the directory of a search, by default the current one, and the prefix of its pattern.
func (c Call) searched(u *use) {
	if !c.namesDirectory() {
		u.values = append(u.values, ".")
	}
	filters := gatherer{fields: filterFields, kind: search}
	if u.doubt = filters.input(c.Input); u.doubt != "" {
		return
	}
	for _, f := range c.spellAll(filters.values) {
		if strings.HasPrefix(f, "/") || strings.HasPrefix(f, "~") || strings.Contains(f, "..") || leaves(f) {
			u.doubt = "its filter " + quoted(f) + " can match files outside the searched directory"
			return
		}
	}
	if u.tool != "Glob" {
		return
	}
	find := gatherer{fields: "pattern query glob_pattern", kind: search}
	if u.doubt = find.input(c.Input); u.doubt != "" {
		return
	}
	dirs := u.values
	for i, pattern := range c.spellAll(find.values) {
		if i == 0 {
			u.values = nil
		}
		if leaves(pattern) {
			u.doubt = "its pattern " + quoted(pattern) + " can match files outside the directory that it begins with"
		}
		u.values = append(u.values, begins(dirs, pattern)...)
	}
}

// namesDirectory reports whether a search has the field in which its tool expects a directory, exactly as it is
// spelled: a tool that ignores other fields searches the current directory.
func (c Call) namesDirectory() bool {
	for f := range strings.FieldsSeq(cmp.Or(c.Directory, dirFields)) {
		if !empty(c.Input[f]) {
			return true
		}
	}
	return false
}

// spellAll returns all spellings of texts.
func (c Call) spellAll(texts []string) (all []string) {
	for _, text := range texts {
		spellings, ok := c.spell(text, c.Spellings)
		if !ok {
			spellings = []string{text, "/"} // anywhere
		}
		all = append(all, spellings...)
	}
	return all
}

// begins returns the directories in which a pattern searches.
func begins(dirs []string, pattern string) []string {
	fixed := pattern
	if i := strings.IndexAny(pattern, wildcards); i >= 0 {
		fixed = pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
	}
	switch {
	case strings.HasPrefix(fixed, "/") || strings.HasPrefix(fixed, "~"):
		return append(slices.Clone(dirs), fixed)
	case fixed == "":
		return dirs
	}
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, dir+"/"+fixed)
	}
	return paths
}

// texts returns a text, or the elements of a list of texts.
func texts(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []string:
		return v, true
	case []any:
		out := make([]string, 0, len(v))
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}

// patchHeader matches a line of a patch that names a file, as the most lenient agents read it: with space around it, in
// any case, and without a space after the colon. Lines of content start with +, -, or a space. Codex reads a line as a
// header that has a space before it. patchMarkers are the other lines of a patch that start with ***. Most commands
// read no patch, so these expressions are compiled when they are needed.
var (
	patchHeader = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\*\*\*[\pZ\s]*(add|create|update|delete|remove|move|rename)[\pZ\s]*` +
			`(?:file|to)?[\pZ\s]*:[\pZ\s]?(.*)$`)
	})
	patchMarkers = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\*\*\*[\pZ\s]*(begin patch|end patch|end of file|environment id:.*)[\pZ\s]*$`)
	})
)

// patch returns the effects of a patch: each file is added or edited.
func (c Call) patch() []use {
	g := gatherer{fields: "input patch patch_text command diff"}
	doubt := g.input(c.Input)
	// for example ["apply_patch", "*** Begin Patch…"]
	texts := slices.DeleteFunc(g.values, func(v string) bool { return v == "apply_patch" })
	if len(texts) > 1 {
		doubt = "its input contains two patches"
	}
	if doubt != "" {
		return c.anyPatch(doubt)
	}
	var out []use
	add := func(tool, name string) {
		out = append(out, use{tool: tool, called: c.Tool, row: rows()[tool], values: []string{name}})
	}
	begun := false
	for raw := range strings.Lines(strings.Join(texts, "")) {
		line := strings.TrimFunc(raw, isSpace)
		header := patchHeader().FindStringSubmatch(line)
		switch {
		case header != nil:
			tool := "Edit"
			if strings.EqualFold(header[1], "add") || strings.EqualFold(header[1], "create") {
				tool = "Write"
			}
			add(tool, header[2])
			if before, _, ok := strings.Cut(header[2], ":"); ok && !drive(header[2]) {
				add(tool, before) // OpenCode ends a name at a colon
			}
		case patchMarkers().MatchString(line):
			begun = true
		case strings.HasPrefix(raw, "***"):
			return c.anyPatch("its patch contains the line " + quoted(line))
		}
	}
	if len(out) == 0 || !begun {
		return c.anyPatch("its patch does not contain a file name that skillpm can read")
	}
	return out
}

// hasPatch reports whether the input is a patch: some agents call their patch tool Edit.
func (c Call) hasPatch() bool {
	g := gatherer{fields: "input patch"}
	return g.input(c.Input) == "" && strings.Contains(strings.Join(g.values, "\n"), "*** Begin Patch")
}

// anyPatch is a patch that may change any file.
func (c Call) anyPatch(doubt string) (out []use) {
	for _, name := range []string{"Edit", "Write"} {
		out = append(out, use{tool: name, called: c.Tool, row: rows()[name], doubt: doubt})
	}
	return out
}

// quoted returns a text in quotes, truncated if long.
func quoted(s string) string {
	return strconv.Quote(textx.Truncate(s, 80))
}
