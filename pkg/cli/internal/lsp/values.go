package lsp

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// suggestValues suggests values for the field at a position.
func (v *view) suggestValues(d *document, pl *yamlPosition, s *suggestions) {
	e := pl.entry
	at := e.path
	start, end := e.span(pl.text)
	end = max(end, pl.column)
	if pl.column < start {
		if strings.TrimSpace(pl.text[pl.column:]) != "" {
			return // before a value
		}
		start, end = pl.column, pl.column
	}
	before := pl.text[start:pl.column]
	quoted := start > 0 && strings.ContainsAny(pl.text[start-1:start], `"'`)
	if strings.HasPrefix(strings.TrimSpace(before), "[") { // a list on one line
		at = append(slices.Clone(at), "0")
		start, end = wordIn(pl.text, start+strings.IndexByte(before, '[')+1, end, pl.column, ",]")
	} else if !quoted && strings.ContainsAny(before, "{|>&*") {
		return
	}
	tools := d.isSkill() && (matchPath("allowed-tools", at) || matchPath("disallowed-tools", at))
	have := ""
	if tools {
		from, to := wordIn(pl.text, start, end, pl.column, ", ")
		have = pl.text[start:from] + " " + pl.text[to:end]
		start, end = from, to
	}
	s.start, s.end = pl.start+start, pl.start+end
	space := ""
	if e.colon && start == e.end+1 {
		space = " "
	}
	values := v.valuesOf(d, pl, at)
	if tools {
		values = valueItems(slices.DeleteFunc(v.tools(), func(t string) bool {
			return slices.Contains(toolsIn(have), t)
		}), "tool", protocol.CompletionItemKindFunction)
	}
	for _, one := range values {
		if one.insert = one.label; !quoted && !tools {
			one.insert = yamlScalar(one.label, one.kind)
		}
		one.insert = space + one.insert
		if !slices.ContainsFunc(s.items, func(o suggestion) bool { return o.label == one.label }) {
			s.add(one)
		}
	}
}

// wordIn returns the range of the word around a column, between start and end and separators that are not in
// parentheses.
func wordIn(line string, start, end, column int, separators string) (int, int) {
	depth, from := 0, start
	for i := start; i < end; i++ {
		switch {
		case line[i] == '(':
			depth++
		case line[i] == ')':
			depth = max(depth-1, 0)
		case depth == 0 && strings.IndexByte(separators, line[i]) >= 0:
			if i >= column {
				return from, i
			}
			from = i + 1
		case i == from && line[i] == ' ' && i < column:
			from = i + 1
		}
	}
	return from, end
}

// yamlScalar writes a value so that YAML reads it as the same text.
func yamlScalar(s string, kind protocol.CompletionItemKind) string {
	if kind == protocol.CompletionItemKindEnumMember {
		return s
	}
	plain := s != "" && !strings.ContainsAny(s[:1], "[]{}#&*!|>'\"%@`,?:-= ") && !strings.Contains(s, ": ") &&
		!strings.Contains(s, " #") && !strings.HasSuffix(s, ":") && strings.Trim(s, "0123456789.eE+-") != ""
	if plain {
		return s
	}
	data, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(data)
}

// valuesOf returns the values for a path: those from the skill's directory first, then those of the schema.
func (v *view) valuesOf(d *document, pl *yamlPosition, at []string) []suggestion {
	out := v.knownValues(d, pl, at)
	for _, schema := range v.schemasFor(d) {
		for _, parent := range schema.lookup(at) {
			for _, f := range schema.choices(parent) {
				out = append(out, f.values()...)
			}
		}
		if len(at) > 0 && isNumber(at[len(at)-1]) { // the list's examples are of its items, too
			for _, f := range schema.lookup(at[:len(at)-1]) {
				_, items := f.samples()
				out = append(out, valueItems(items, "example", protocol.CompletionItemKindValue)...)
			}
		}
	}
	return out
}

// values returns the values that the schema lists.
func (f *field) values() []suggestion {
	options := slices.DeleteFunc(f.options(), func(s string) bool { return s == "null" })
	out := valueItems(options, "", protocol.CompletionItemKindEnumMember)
	if len(options) == 0 {
		plain, _ := f.samples()
		out = append(out, valueItems(plain, "example", protocol.CompletionItemKindValue)...)
	}
	if f.Default != nil {
		for i := range out {
			if out[i].label == yamlText(f.Default) {
				out[i].detail = "default"
			}
		}
	}
	return out
}

func valueItems(values []string, detail string, kind protocol.CompletionItemKind) []suggestion {
	var out []suggestion
	for _, s := range values {
		if s != "" && !strings.Contains(s, "\n") {
			out = append(out, suggestion{label: s, detail: detail, kind: kind})
		}
	}
	return out
}

// knownValues returns values from the skill's files, or from skillpm's tables.
func (v *view) knownValues(d *document, pl *yamlPosition, at []string) []suggestion {
	if !d.isSkill() {
		if ownSchema(d.path) != "lock" && matchPath("agents/*", at) {
			return valueItems(agent.IDs(), "agent", protocol.CompletionItemKindEnumMember)
		}
		return nil
	}
	switch {
	case matchPath("name", at):
		if name := path.Base(path.Dir(d.path)); skill.CheckName(name) == nil {
			return valueItems([]string{name}, "name of the directory", protocol.CompletionItemKindValue)
		}
	case matchPath("files/*/path", at), matchPath("files/*", at) && v.listsPaths(d):
		listed := append(pl.doc.values("files/*/path", pl.line), pl.doc.values("files/*", pl.line)...)
		return fileItems(slices.DeleteFunc(v.files(d), func(p string) bool { return slices.Contains(listed, p) }))
	case matchPath("hooks/pre", at), matchPath("hooks/post", at), matchPath("hooks/*/*/hooks/*/command", at),
		matchPath("command", at):
		return fileItems(slices.DeleteFunc(v.files(d), func(p string) bool {
			return !strings.HasPrefix(p, "scripts/")
		}))
	case matchPath("license", at):
		return fileItems(slices.DeleteFunc(v.files(d), func(p string) bool {
			return !strings.HasPrefix(strings.ToUpper(p), "LICEN")
		}))
	case len(at) > 0 && strings.HasSuffix(at[0], "allowed-tools"):
		return valueItems(v.tools(), "tool", protocol.CompletionItemKindFunction)
	}
	return nil
}

// listsPaths reports whether the items of `files:` may be plain text.
func (v *view) listsPaths(d *document) bool {
	return slices.ContainsFunc(v.schemasFor(d), func(schema profileSchema) bool {
		return slices.ContainsFunc(schema.lookup([]string{"files", "0"}),
			func(f *field) bool { return f.is("string") })
	})
}

func fileItems(paths []string) []suggestion {
	return valueItems(paths, "", protocol.CompletionItemKindFile)
}

// tools returns the tools in the schemas' examples, sorted.
func (v *view) tools() []string {
	var all []string
	for _, schema := range v.agentSchemas() {
		for _, f := range schema.lookup([]string{"allowed-tools"}) {
			plain, items := f.samples()
			for _, text := range append(plain, items...) {
				all = append(all, toolsIn(text)...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// toolsIn splits text into tools, separated by spaces or commas.
func toolsIn(text string) []string {
	var all []string
	for start := 0; start < len(text); {
		_, end := wordIn(text, start, len(text), start, ", ")
		if tool := strings.TrimSpace(text[start:end]); tool != "" {
			all = append(all, tool)
		}
		start = end + 1
	}
	return all
}

// maxFiles bounds how many files of a skill are listed for completion.
const maxFiles = 5000

// files returns the other files of the document's skill, relative to the document's directory.
func (v *view) files(d *document) []string {
	home := v.skillRoot(d.path)
	if home == "" {
		return nil
	}
	root, name := splitVolume(home)
	tree, err := v.tree(root)
	if err != nil {
		return nil
	}
	from := path.Dir(d.path)
	var files []string
	_ = fs.WalkDir(tree, name, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not suggested
		case e.IsDir() && p != name && skill.SkipDir(e.Name()):
			return fs.SkipDir
		case len(files) >= maxFiles:
			return fs.SkipAll
		case !e.IsDir() && root+p != d.path && !strings.HasPrefix(e.Name(), "."):
			files = append(files, relative(from, root+p))
		}
		return nil
	})
	return files
}

// relative writes a path relative to a directory.
func relative(dir, p string) string {
	up := ""
	for {
		if rel, ok := relativeTo(dir, p); ok {
			return up + rel
		}
		if path.Dir(dir) == dir {
			return p
		}
		dir, up = path.Dir(dir), up+"../"
	}
}
