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

// front inspects the frontmatter. It ignores one that cannot be parsed, because no agent loads such a skill.
func (b *Builder) front(doc *skill.Document) {
	if doc.Front == nil {
		return
	}
	if k, v := doc.Lookup("hooks"); k != nil {
		b.add(policy.Hooks, content(value(v)), skill.File, k.Line, "has hooks")
	}
	if k, v := doc.Lookup("disable-model-invocation"); k != nil && skill.ScalarText(follow(v)) == "true" {
		b.add(policy.Restriction, "disable-model-invocation", skill.File, k.Line, "starts only at the user's request")
	}
	if k, _ := doc.Lookup("command"); k != nil && skill.Program(doc.Command()) != "" {
		b.add(policy.Scripts, content(doc.Command()), skill.File, k.Line, "defines the command %s",
			quoted(doc.Command()))
		b.command(skill.File, k.Line, doc.Command())
	}
	if _, v := doc.Lookup("execution"); v != nil {
		b.execution(follow(v))
	}
	for _, key := range []string{"allowed-tools", "allowed_tools", "tools"} {
		k, v := doc.Lookup(key)
		if v == nil {
			continue
		}
		v = follow(v)
		if v.Kind != yaml.ScalarNode || strings.TrimSpace(skill.ScalarText(v)) != "" {
			b.add(policy.Restriction, "allowed-tools", skill.File, k.Line, "restricts the tools to those of %s", key)
		}
		for _, t := range toolList(v) {
			b.tools(t)
		}
	}
	if _, v := doc.Lookup("disallowed-tools"); v != nil {
		for _, t := range toolList(follow(v)) {
			for _, item := range t.items() {
				b.add(policy.Restriction, "disallowed-tools "+item, skill.File, t.line, "forbids %s", item)
			}
		}
	}
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
	for i := 0; v.Kind == yaml.MappingNode && i+1 < len(v.Content); i += 2 {
		k, value := v.Content[i], follow(v.Content[i+1])
		text := skill.ScalarText(value)
		switch k.Value {
		case "sandbox":
			if text != "" && text != "false" {
				b.add(policy.Restriction, "execution.sandbox", skill.File, k.Line, "runs scripts in a sandbox")
			}
		case "network":
			hosts := scalars(value)
			if text == "true" || slices.Contains(hosts, "*") {
				hosts = []string{""}
			} else {
				b.add(policy.Restriction, "execution.network", skill.File, k.Line, "limits the network access of scripts")
			}
			for _, host := range hosts {
				if host == "false" || host == "none" {
					continue
				}
				host = hostName(host)
				b.add(policy.NetworkTools, host, skill.File, k.Line, "requests access to %s", cmp.Or(host, "every host"))
			}
		case "allowed-paths":
			b.add(policy.Restriction, "execution.allowed-paths", skill.File, k.Line, "limits where scripts write")
			for _, name := range scalars(value) {
				b.add(policy.FileWrite, name, skill.File, k.Line, "requests write access to %s", name)
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

// toolList returns the entries of a list of tools.
func toolList(v *yaml.Node) []toolEntry {
	list := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		list = v.Content
	}
	var entries []toolEntry
	for _, n := range list {
		n = follow(n)
		text := skill.ScalarText(n)
		if n.Kind == yaml.MappingNode && len(n.Content) == 2 { // YAML parses Bash(git: *) as a mapping
			text = skill.ScalarText(n.Content[0]) + ": " + skill.ScalarText(n.Content[1])
		}
		entries = append(entries, toolEntry{text, n.Line})
	}
	return entries
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
	wildcard, shell := scan.ToolRisk(item)
	if wildcard {
		for _, c := range []policy.Capability{policy.NetworkTools, policy.FileWrite, policy.UnscopedShell} {
			name := ""
			if c == policy.UnscopedShell {
				name = item
			}
			b.add(c, name, skill.File, line, "allows every tool: %s", item)
		}
		return
	}
	if shell || shellTool(p.Tool) && anyCommand(p.Argument) {
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
