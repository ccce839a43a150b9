package capability

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// main inspects SKILL.md.
func (r *reader) main(data []byte) {
	doc, _ := skill.Parse(data)
	r.front(doc)
	for _, c := range skill.ShellCommands(string(doc.Body())) {
		line := lineOf(data, doc.BodyStart+c.Start)
		r.add(policy.DynamicShell, skill.File, line, "runs %s when an agent loads the skill", quoted(c.Line))
		r.commands(skill.File, line, c.Line)
	}
	if r.scan == nil {
		r.scan = scan.New()
	}
	for _, h := range r.scan.Text(data, scan.Options{Markdown: true, Skill: true}) {
		line := lineOf(data, h.Start)
		if h.Kind == scan.DynamicShell && !slices.ContainsFunc(r.found, func(e Evidence) bool {
			return e.Capability == policy.DynamicShell && e.Path == skill.File && e.Line == line
		}) {
			r.add(policy.DynamicShell, skill.File, line, "has a command that some agents run when they load the skill")
		}
	}
	r.page(skill.File, data, doc.BodyStart)
}

// front inspects the frontmatter. It ignores one that cannot be parsed, because no agent loads such a skill.
func (r *reader) front(doc *skill.Document) {
	if doc.Front == nil {
		return
	}
	if k, _ := doc.Lookup("hooks"); k != nil {
		r.add(policy.Hooks, skill.File, k.Line, "has hooks")
	}
	if k, _ := doc.Lookup("command"); k != nil && skill.Program(doc.Command()) != "" {
		r.add(policy.Scripts, skill.File, k.Line, "defines the command %s", quoted(doc.Command()))
		r.commands(skill.File, k.Line, doc.Command())
	}
	if _, v := doc.Lookup("execution"); v != nil {
		r.execution(follow(v))
	}
	for _, key := range []string{"allowed-tools", "allowed_tools", "tools"} {
		if _, v := doc.Lookup(key); v != nil {
			r.tools(follow(v))
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

// execution inspects the permissions that scripts ask for.
func (r *reader) execution(v *yaml.Node) {
	for i := 0; v.Kind == yaml.MappingNode && i+1 < len(v.Content); i += 2 {
		k, value := v.Content[i], follow(v.Content[i+1])
		switch text := skill.ScalarText(value); {
		case k.Value == "network" && text != "false" && (text != "" || len(value.Content) > 0):
			r.add(policy.NetworkTools, skill.File, k.Line, "requests network access")
		case k.Value == "allowed-paths" && (text != "" || len(value.Content) > 0):
			r.add(policy.FileWrite, skill.File, k.Line, "requests write access to directories")
		}
	}
}

// tools inspects a list of allowed tools.
func (r *reader) tools(v *yaml.Node) {
	list := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		list = v.Content
	}
	for _, n := range list {
		n = follow(n)
		text := skill.ScalarText(n)
		if n.Kind == yaml.MappingNode && len(n.Content) == 2 { // YAML parses Bash(git: *) as a mapping
			text = skill.ScalarText(n.Content[0]) + ": " + skill.ScalarText(n.Content[1])
		}
		patterns, err := tool.ParseList([]string{text})
		if err != nil {
			r.add(policy.UnscopedShell, skill.File, n.Line, "allows tools that skillpm cannot parse: %s", quoted(text))
			continue
		}
		for _, p := range patterns {
			r.tool(p, n.Line)
		}
	}
}

// tool inspects one tool pattern.
func (r *reader) tool(p tool.Pattern, line int) {
	item := p.String()
	wildcard, shell := scan.ToolRisk(item)
	if wildcard {
		for _, c := range []policy.Capability{policy.NetworkTools, policy.FileWrite, policy.UnscopedShell} {
			r.add(c, skill.File, line, "allows every tool: %s", item)
		}
		return
	}
	if shell || shellTool(p.Tool) && anyCommand(p.Argument) {
		r.add(policy.UnscopedShell, skill.File, line, "allows every command: %s", item)
	}
	switch name := tool.Canonical(p.Tool); name {
	case "WebFetch", "WebSearch":
		r.add(policy.NetworkTools, skill.File, line, "allows %s", item)
	case "Write", "Edit", "NotebookEdit", "Delete":
		r.add(policy.FileWrite, skill.File, line, "allows %s", item)
	case shellName, powerShellName:
		r.commands(skill.File, line, strings.NewReplacer(":*", " ", "*", " ").Replace(p.Argument))
		r.addPrograms(line, p.Argument)
	default:
		if strings.HasPrefix(p.Tool, "mcp__") {
			r.add(policy.NetworkTools, skill.File, line, "allows %s, a tool of an MCP server", item)
		}
	}
}

// addPrograms adds the capabilities of all known programs whose names match a pattern's beginning.
func (r *reader) addPrograms(line int, pattern string) {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(strings.ReplaceAll(pattern, ":*", " "))), " ")
	if word = path.Base(word); !strings.Contains(word, "*") || strings.HasPrefix(word, "*") {
		return
	}
	if i := slices.IndexFunc(networkPrograms, programMatcher(word)); i >= 0 {
		r.add(policy.NetworkTools, skill.File, line, "may run %s", networkPrograms[i])
	}
	if i := slices.IndexFunc(writingPrograms, programMatcher(word)); i >= 0 {
		r.add(policy.FileWrite, skill.File, line, "may run %s", writingPrograms[i])
	}
}

// commands inspects a line of shell code.
func (r *reader) commands(file string, line int, text string) {
	for _, word := range programsOf(text) {
		switch {
		case slices.Contains(networkPrograms, word):
			r.add(policy.NetworkTools, file, line, "runs %s", word)
		case slices.Contains(writingPrograms, word):
			r.add(policy.FileWrite, file, line, "runs %s", word)
		}
	}
}

// quoted returns the beginning of a text in quotes, on one line.
func quoted(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, text)
	return "`" + textx.TruncateRunes(text, 60) + "`"
}

// lineOf returns the line number of an offset.
func lineOf(data []byte, offset int) int {
	line := 1
	for _, b := range data[:min(offset, len(data))] {
		if b == '\n' {
			line++
		}
	}
	return line
}
