package tool

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Call is one call of a tool, as the agent names and fills it in.
type Call struct {
	Tool  string         `json:"tool"`
	Input map[string]any `json:"input,omitempty"`

	// Project is the absolute directory that patterns of files are relative to. Without it only files that the call
	// names relatively can be allowed by one.
	Project string `json:"-"`
	// Dir is the absolute directory that the call's own paths are relative to: Project where it is empty.
	Dir string `json:"-"`
	// Home is what ~ means. Without it nothing that starts with ~ can be allowed by a pattern.
	Home string `json:"-"`
	// Real returns where an absolute path leads once links are followed as the system does: it is given paths with ..,
	// and what does not exist leads to where it would be created. "" says that it can't be told, and is refused. Where
	// it is set both the path and where it leads must be allowed.
	Real func(path string) string `json:"-"`
	// Windows says that the agent gives command lines to PowerShell or cmd.
	Windows bool `json:"-"`
}

// use is one thing that a call does: most do one, a patch as many as it has files.
type use struct {
	tool   string // canonical
	called string // as the agent names it
	row    *row   // nil for a tool that the table does not have
	values []string
	argv   []string // of a command that no shell reads
	doubt  string   // why what it is called with can't be told

	elsewhere string // why a command need not be what it is where patterns expect it to run

	cut      bool // commands and refused are known
	commands []command
	refused  string
}

// uses returns what a call does.
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
		if len(u.values) == 0 && Writes(name) && c.hasPatch() {
			return c.patch()
		}
	default:
		c.fill(&u, r.fields)
	}
	return []use{u}
}

// patches reports whether a tool takes a patch, which has the files in it.
func patches(tool string) bool {
	switch tool {
	case "apply_patch", "applyPatch", "ApplyPatch", "patch":
		return true
	}
	return false
}

// multi reports whether a tool reads, writes or edits, as its command says.
func multi(tool string) bool {
	switch tool {
	case "str_replace_editor", "str_replace_based_edit_tool", "text_editor", "developer__text_editor", "fs_write":
		return true
	}
	return false
}

// fill takes the values out of every field that may hold them: which of two an agent reads is not known, so all count.
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
		u.doubt = "its input does not say with what, in any of the fields " + strings.Join(strings.Fields(fields), ", ")
	case c.Tool == "read_many_files":
		c.readMany(u)
	}
}

// addRequests adds the addresses of what a page is asked about, where that may be what is fetched.
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
		u.doubt = "its prompt has addresses that can't be told apart"
	}
	u.values = append(u.values, values...)
}

// readMany adds the patterns of a tool that reads what they find.
func (c Call) readMany(u *use) {
	g := gatherer{fields: "include", kind: file}
	u.doubt = g.input(c.Input)
	u.values = append(u.values, g.values...)
	for _, v := range u.values {
		if leaves(v) {
			u.doubt = "its pattern " + quoted(v) + " can leave the directory that it begins with"
		}
	}
}

// leaves reports whether what a pattern finds can be elsewhere than the text before its first wildcard says.
func leaves(pattern string) bool {
	i := strings.IndexAny(pattern, wildcards)
	if i < 0 {
		return false
	}
	return slices.ContainsFunc([]string{"..", `\`, "{/", ",/", "(/", "|/", "{~", ",~"}, func(part string) bool {
		return strings.Contains(pattern[i:], part)
	})
}

// wildcards are the characters that a pattern of files begins to be one with.
const wildcards = `*?[{(\`

// searched adds what a search is about: the current directory where none is given, and below it what its pattern says.
func (c Call) searched(u *use) {
	if len(u.values) == 0 {
		u.values = []string{"."}
	}
	filters := gatherer{fields: filterFields, kind: search}
	if u.doubt = filters.input(c.Input); u.doubt != "" {
		return
	}
	for _, f := range filters.values {
		if strings.HasPrefix(f, "/") || strings.HasPrefix(f, "~") || strings.Contains(f, "..") || leaves(f) {
			u.doubt = "its filter " + quoted(f) + " can leave the directory that is searched"
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
	for i, pattern := range find.values {
		if i == 0 {
			u.values = nil
		}
		if leaves(pattern) {
			u.doubt = "its pattern " + quoted(pattern) + " can leave the directory that it begins with"
		}
		u.values = append(u.values, begins(dirs, pattern)...)
	}
}

// begins returns the directories in which files are looked for by a pattern.
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

// texts returns a text, or a list of them.
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

// patch returns what a patch does to which file: it adds one or edits one.
func (c Call) patch() []use {
	g := gatherer{fields: "input patch patch_text command diff"}
	doubt := g.input(c.Input)
	// as in ["apply_patch", "*** Begin Patch…"]
	texts := slices.DeleteFunc(g.values, func(v string) bool { return v == "apply_patch" })
	if len(texts) > 1 {
		doubt = "its input has two patches"
	}
	if doubt != "" {
		return c.anyPatch(doubt)
	}
	text := strings.Join(texts, "")
	var out []use
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, head := range []struct{ prefix, tool string }{
			{"*** Add File: ", "Write"},
			{"*** Update File: ", "Edit"},
			{"*** Delete File: ", "Edit"},
			{"*** Move to: ", "Edit"},
		} {
			if name, ok := strings.CutPrefix(line, head.prefix); ok {
				out = append(out, use{
					tool: head.tool, called: c.Tool, row: rows()[head.tool],
					values: []string{strings.TrimSpace(name)},
				})
			}
		}
	}
	if len(out) == 0 || !strings.HasPrefix(strings.TrimSpace(text), "*** Begin Patch") {
		return c.anyPatch("its patch names no file that skillpm understands")
	}
	return out
}

// hasPatch reports whether the input of a tool is a patch: there are agents that call their tool for patches Edit.
func (c Call) hasPatch() bool {
	g := gatherer{fields: "input patch"}
	return g.input(c.Input) == "" && len(g.values) == 1 && strings.HasPrefix(strings.TrimSpace(g.values[0]),
		"*** Begin Patch")
}

// anyPatch is a patch that may do anything to any file.
func (c Call) anyPatch(doubt string) (out []use) {
	for _, name := range []string{"Edit", "Write"} {
		out = append(out, use{tool: name, called: c.Tool, row: rows()[name], doubt: doubt})
	}
	return out
}

// quoted returns a text in quotes, cut where it is long.
func quoted(s string) string {
	return strconv.Quote(textx.Truncate(s, 80))
}
