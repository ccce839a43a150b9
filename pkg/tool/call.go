package tool

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Call is one call of a tool, as the host names and fills it in.
type Call struct {
	Tool  string         `json:"tool"`
	Input map[string]any `json:"input,omitempty"`

	// Project is the absolute directory that patterns of files are relative to. Without it only files that the call names
	// relatively can be allowed by one.
	Project string `json:"-"`
	// Dir is the absolute directory that the call's own paths are relative to: Project where it is empty.
	Dir string `json:"-"`
	// Home is what ~ means. Without it nothing that starts with ~ can be allowed by a pattern.
	Home string `json:"-"`
	// Real returns where an absolute path leads once links are followed as the system does: it is given paths with .., and
	// what does not exist leads to where it would be created. "" says that it can't be told, and is refused. Where it is
	// set both the path and where it leads must be allowed.
	Real func(path string) string `json:"-"`
	// Windows says that the host gives command lines to PowerShell or cmd.
	Windows bool `json:"-"`
}

// use is one thing that a call does: most do one, a patch as many as it has files.
type use struct {
	tool   string // canonical
	called string // as the host names it
	row    *row   // nil for a tool that the table does not have
	values []string
	argv   []string // of a command that no shell reads
	doubt  string   // why what it is called with can't be told

	cut      bool // commands and refused are known
	commands []command
	refused  string
}

// uses returns what a call does.
func (c Call) uses() []use {
	if c.Tool == "apply_patch" || c.Tool == "applyPatch" || c.Tool == "patch" || c.Tool == "ApplyPatch" {
		return c.patch()
	}
	name := c.Tool
	if multi(name) {
		name = "Edit"
		switch command, _ := c.Input["command"].(string); command {
		case "view":
			name = "Read"
		case "create":
			name = "Write"
		}
	}
	r, ok := rows()[name]
	if !ok {
		return []use{{tool: name, called: c.Tool}}
	}
	u := use{tool: r.name, called: c.Tool, row: r}
	switch r.kind {
	case plain:
	case shell, powershell:
		c.commandLine(&u)
	default:
		c.fill(&u, multi(c.Tool))
	}
	return []use{u}
}

// multi reports whether a tool reads, writes or edits, as its command says.
func multi(tool string) bool {
	switch tool {
	case "str_replace_editor", "str_replace_based_edit_tool", "text_editor", "developer__text_editor", "fs_write":
		return true
	}
	return false
}

// fill takes the values out of every field that may hold them: which of two a host reads is not known, so all count.
func (c Call) fill(u *use, pathOnly bool) {
	fields := u.row.fields
	if pathOnly {
		fields = "path file_path"
	}
	for field := range strings.FieldsSeq(fields) {
		v, present := c.Input[field]
		if !present || v == nil || v == "" && u.row.kind == search {
			continue
		}
		values, ok := texts(v)
		if !ok {
			u.doubt = fmt.Sprintf("its %s is no text", field)
			return
		}
		if u.row.kind == address && field == "prompt" {
			if _, also := c.Input["url"]; also && c.Tool != "web_fetch" {
				continue // what is asked about the page, not what is fetched
			}
			if values, ok = addresses(values); !ok {
				u.doubt = "its prompt has addresses that can't be told apart"
				return
			}
		}
		u.values = append(u.values, values...)
	}
	switch {
	case u.row.kind == search:
		c.searched(u)
	case len(u.values) == 0:
		u.doubt = "its input does not say with what, in any of the fields " + strings.Join(strings.Fields(fields), ", ")
	}
}

// searched adds what a search is about: the current directory where none is given, and below it what its pattern says.
func (c Call) searched(u *use) {
	if len(u.values) == 0 {
		u.values = []string{"."}
	}
	pattern, _ := c.Input["pattern"].(string)
	if u.tool != "Glob" || pattern == "" {
		return
	}
	fixed := pattern
	if i := strings.IndexAny(pattern, `*?[{\`); i >= 0 {
		if fixed = ""; i > 0 {
			fixed = pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
		}
		if strings.Contains(pattern[i:], "..") {
			u.doubt = "its pattern has .. after a wildcard"
		}
	}
	switch {
	case strings.HasPrefix(fixed, "/") || strings.HasPrefix(fixed, "~"):
		u.values = append(u.values, fixed)
	case fixed != "":
		for i, dir := range u.values {
			u.values[i] = path.Clean(dir) + "/" + fixed
		}
	}
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
	text := ""
	for _, field := range []string{"input", "patch", "patchText", "patch_text", "command", "diff"} {
		values, ok := texts(c.Input[field])
		switch {
		case !ok || len(values) == 0:
			continue
		case text != "":
			return []use{{tool: "Edit", called: c.Tool, row: rows()["Edit"], doubt: "its input has two patches"}}
		}
		text = values[len(values)-1] // also of ["apply_patch", "*** Begin Patch…"]
	}
	var out []use
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, head := range []struct{ prefix, tool string }{
			{"*** Add File: ", "Write"}, {"*** Update File: ", "Edit"}, {"*** Delete File: ", "Edit"}, {"*** Move to: ", "Edit"},
		} {
			if name, ok := strings.CutPrefix(line, head.prefix); ok {
				out = append(out, use{tool: head.tool, called: c.Tool, row: rows()[head.tool], values: []string{strings.TrimSpace(name)}})
			}
		}
	}
	if len(out) == 0 || !strings.HasPrefix(strings.TrimSpace(text), "*** Begin Patch") {
		return []use{{tool: "Edit", called: c.Tool, row: rows()["Edit"], doubt: "its patch names no file that skillpm understands"}}
	}
	return out
}

// quoted returns a text in quotes, cut where it is long.
func quoted(s string) string {
	const limit = 80
	if len(s) > limit {
		cut := limit
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return fmt.Sprintf("%q", s)
}
