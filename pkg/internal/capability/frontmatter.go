package capability

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// main inspects SKILL.md.
func (b *Builder) main(f File) {
	doc := f.Doc
	if doc == nil {
		doc, _ = skill.Parse(f.Data)
	}
	b.front(doc)
	known, lineOf := map[int]bool{}, lineCounter(f.Data)
	for _, c := range skill.ShellCommands(string(doc.Body())) {
		line := lineOf(doc.BodyStart + c.Start)
		known[line] = true
		b.add(policy.DynamicShell, content(c.Line), skill.File, line,
			"runs %s when an agent loads the skill", quoted(c.Line))
		b.command(skill.File, line, c.Line)
	}
	if f.Hits == nil {
		f.Hits = scanner().Text(f.Data, scan.Options{Markdown: true, Skill: true})
	}
	for _, h := range f.Hits {
		if h.Kind != scan.DynamicShell {
			continue
		}
		if line := lineOf(h.Start); !known[line] {
			b.add(policy.DynamicShell, content(string(f.Data[h.Start:h.End])), skill.File, line,
				"has a command that some agents run when they load the skill")
		}
	}
	if f.Summary == nil {
		page := markdown.Read(f.Data, doc.BodyStart)
		f.Summary = flow.Summarize(flow.File{Path: skill.File, Data: f.Data, Page: page})
	}
	b.code(skill.File, f.Summary, nil)
}

// field is a field of the frontmatter.
type field struct {
	name     string // without - and _, in lower case, because agents differ in the spelling
	key      string // as written
	value    *yaml.Node
	line     int
	distinct bool // no other field has the key, and it is not merged, so that all agents read this value
}

// fields returns the fields of a frontmatter with those that it merges from other mappings.
func fields(front *yaml.Node) []field {
	var all []field
	walk(front, map[*yaml.Node]bool{}, func(n, k, v *yaml.Node) (descend bool) {
		if k == nil || k.Value == "<<" {
			return true
		}
		name := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(k.Value))
		all = append(all, field{
			name: name, key: k.Value, value: follow(v), line: k.Line, distinct: n == front,
		})
		return false
	})
	keys := map[string]int{}
	for _, f := range all {
		keys[f.key]++
	}
	for i := range all {
		all[i].distinct = all[i].distinct && keys[all[i].key] == 1
	}
	return all
}

// front inspects the frontmatter. It ignores one that cannot be parsed, because no agent loads such a skill. What a field
// allows counts in any spelling and as often as it occurs; what it restricts counts only if all agents read it.
func (b *Builder) front(doc *skill.Document) {
	if doc.Front == nil {
		return
	}
	for _, f := range fields(doc.Front) {
		switch f.name {
		case "hooks":
			b.add(policy.Hooks, content(value(f.value)), skill.File, f.line, "has hooks")
		case "disablemodelinvocation":
			if strings.EqualFold(skill.ScalarText(f.value), "true") {
				b.restrict(f, "disable-model-invocation", "starts only at the user's request")
			}
		case "command":
			if text := skill.ScalarText(f.value); skill.Program(text) != "" {
				b.add(policy.Scripts, content(text), skill.File, f.line, "defines the command %s", quoted(text))
				b.command(skill.File, f.line, text)
			}
		case "execution":
			b.execution(f.value)
		case "allowedtools", "tools":
			if f.value.Kind != yaml.ScalarNode || strings.TrimSpace(skill.ScalarText(f.value)) != "" {
				b.restrict(f, "allowed-tools", "restricts the tools to those of "+f.key)
			}
			for _, t := range toolList(f.value) {
				b.tools(t)
			}
		case "disallowedtools":
			for _, t := range toolList(f.value) {
				f.line = t.line
				for _, item := range t.items() {
					b.restrict(f, "disallowed-tools "+item, "forbids "+item)
				}
			}
		}
	}
}

// restrict adds a restriction that a field sets, if all agents read its value.
func (b *Builder) restrict(f field, name, why string) {
	if f.distinct && slices.Contains(restrictions, f.key) {
		b.add(policy.Restriction, name, skill.File, f.line, "%s", why)
	}
}

// restrictions are the fields that restrict a skill, and those of execution, as agents spell them.
var restrictions = []string{
	"allowed-tools", "allowed_tools", "tools", "disallowed-tools", "disable-model-invocation",
	"sandbox", "network", "allowed-paths",
}

// follow returns the target of a YAML alias.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// value returns a YAML value as text, with its aliases resolved. A value that cannot be decoded is its error.
func value(v *yaml.Node) string {
	var decoded any
	if err := v.Decode(&decoded); err != nil {
		return err.Error()
	}
	text, err := json.Marshal(decoded)
	if err != nil { // keys that are not texts
		return fmt.Sprint(decoded)
	}
	return string(text)
}

// execution inspects the permissions that scripts request, and their limits.
func (b *Builder) execution(v *yaml.Node) {
	for _, f := range fields(v) {
		text := skill.ScalarText(f.value)
		switch f.name {
		case "sandbox":
			if text != "" && text != "false" {
				b.restrict(f, "execution.sandbox", "runs scripts in a sandbox")
			}
		case "network":
			hosts := scalars(f.value)
			if text == "true" || slices.Contains(hosts, "*") {
				hosts = []string{""}
			} else {
				b.restrict(f, "execution.network", "limits the network access of scripts")
			}
			for _, host := range hosts {
				if host == "false" || host == "none" {
					continue
				}
				host = hostName(host)
				b.add(policy.NetworkTools, host, skill.File, f.line, "requests access to %s", cmp.Or(host, "every host"))
			}
		case "allowedpaths":
			b.restrict(f, "execution.allowed-paths", "limits where scripts write")
			for _, name := range scalars(f.value) {
				b.add(policy.FileWrite, name, skill.File, f.line, "requests write access to %s", name)
			}
		}
	}
}

// scalars returns the items of a list, or a text alone; no items for an empty text.
func scalars(v *yaml.Node) []string {
	list := v.Content
	if v.Kind == yaml.ScalarNode {
		list = []*yaml.Node{v}
	}
	var texts []string
	for _, n := range list {
		if text := strings.TrimSpace(skill.ScalarText(follow(n))); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// hostName returns a host without its port, in lower case.
func hostName(text string) string {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	return strings.ToLower(text)
}

// toolEntry is an entry of a list of tools, which may name several.
type toolEntry struct {
	text string
	line int
}

// toolList returns the entries of a list of tools, at any depth. A tool that a mapping sets to false is none.
func toolList(v *yaml.Node) (entries []toolEntry) {
	walk(v, map[*yaml.Node]bool{}, func(n, k, v *yaml.Node) (descend bool) {
		if k == nil {
			if text := skill.ScalarText(n); text != "" {
				entries = append(entries, toolEntry{text, n.Line})
			}
			return false
		}
		key, text := skill.ScalarText(k), skill.ScalarText(v)
		switch {
		case strings.Contains(key, "("): // YAML parses Bash(git: *) as a mapping
			entries = append(entries, toolEntry{key + ": " + text, k.Line})
		case !strings.EqualFold(text, "false"):
			entries = append(entries, toolEntry{key, k.Line})
		}
		return follow(v).Kind != yaml.ScalarNode
	})
	return entries
}

// walk visits the pairs of mappings, in lists at any depth, too, and the nodes that are neither, with a nil key. It
// visits the value of a pair if visit returns true. Aliases are followed, each node once.
func walk(n *yaml.Node, seen map[*yaml.Node]bool, visit func(n, k, v *yaml.Node) (descend bool)) {
	if n = follow(n); seen[n] {
		return
	}
	seen[n] = true
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			walk(item, seen, visit)
		}
	case yaml.MappingNode:
		for k, v := range yamlx.Pairs(n) {
			if visit(n, follow(k), v) {
				walk(v, seen, visit)
			}
		}
	default:
		visit(n, nil, nil)
	}
}

// items returns the tools of an entry; one that cannot be parsed is one tool.
func (t toolEntry) items() []string {
	patterns, err := tool.ParseList([]string{t.text})
	if err != nil {
		return []string{t.text}
	}
	var items []string
	for _, p := range patterns {
		items = append(items, p.String())
	}
	return items
}

// tools inspects an entry of a list of allowed tools.
func (b *Builder) tools(t toolEntry) {
	for _, item := range t.items() {
		b.add(policy.Tools, item, skill.File, t.line, "allows %s", item)
	}
	patterns, err := tool.ParseList([]string{t.text})
	if err != nil {
		b.add(policy.UnscopedShell, t.text, skill.File, t.line, "allows tools that skillpm cannot parse: %s",
			quoted(t.text))
		return
	}
	for _, p := range patterns {
		b.tool(p, t.line)
	}
}

// tool inspects one tool pattern.
func (b *Builder) tool(p tool.Pattern, line int) {
	item := p.String()
	risk := scan.ToolRisk(item)
	if risk == scan.EveryTool || risk == scan.EveryMCPTool { // an MCP server can have tools of any kind
		for _, c := range []policy.Capability{policy.NetworkTools, policy.FileWrite, policy.UnscopedShell} {
			name := ""
			if c == policy.UnscopedShell {
				name = item
			}
			b.add(c, name, skill.File, line, "allows every tool: %s", item)
		}
		return
	}
	if risk == scan.EveryCommand || shellTool(p.Tool) && anyCommand(p.Argument) {
		b.add(policy.UnscopedShell, item, skill.File, line, "allows every command: %s", item)
	}
	switch name := tool.Canonical(p.Tool); name {
	case "WebFetch", "WebSearch":
		b.add(policy.NetworkTools, "", skill.File, line, "allows %s", item)
	case "Write", "Edit", "NotebookEdit", "Delete":
		b.add(policy.FileWrite, "", skill.File, line, "allows %s", item)
	case shellName, powerShellName:
		if !b.command(skill.File, line, strings.NewReplacer(":*", " ", "*", " ").Replace(p.Argument)) {
			b.add(policy.UnscopedShell, item, skill.File, line, "allows a command that skillpm cannot parse: %s", item)
		}
		b.addPrograms(line, p.Argument)
	default:
		if strings.HasPrefix(p.Tool, "mcp__") {
			b.add(policy.NetworkTools, "MCP servers", skill.File, line, "allows %s, a tool of an MCP server", item)
		}
	}
}

// addPrograms adds the capabilities of all known programs whose names match a pattern's beginning.
func (b *Builder) addPrograms(line int, pattern string) {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(strings.ReplaceAll(pattern, ":*", " "))), " ")
	if word = path.Base(word); !strings.Contains(word, "*") || strings.HasPrefix(word, "*") {
		return
	}
	if i := slices.IndexFunc(networkPrograms, programMatcher(word)); i >= 0 {
		b.add(policy.NetworkTools, "", skill.File, line, "may run %s", networkPrograms[i])
	}
	if i := slices.IndexFunc(writingPrograms, programMatcher(word)); i >= 0 {
		b.add(policy.FileWrite, "", skill.File, line, "may run %s", writingPrograms[i])
	}
}

// quoted returns the beginning of a text in quotes, on one line.
func quoted(text string) string { return "`" + textx.TruncateRunes(clean(text), 60) + "`" }
