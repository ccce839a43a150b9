package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// checkTools checks the entries of allowed-tools and disallowed-tools: their parentheses, and the names of tools.
func (u *skillCheck) checkTools() {
	for _, field := range []string{"allowed-tools", "disallowed-tools"} {
		_, v := u.doc.Lookup(field)
		if at, why := u.doc.UnreadTools(field); at != nil && !u.doc.Recovered(v) {
			severity := diag.SeverityError
			u.atNode(at, finding{
				rule: rule.Empty, severity: &severity, message: why,
				fix: "list tools, write " + field + ": [] for an empty list, or remove the field to allow all tools",
			})
			continue
		}
		switch {
		case v == nil || u.doc.Recovered(v):
		case v.Kind == yaml.ScalarNode && !(hasComma(v.Value) && spaced(v.Value)):
			u.checkToolEntries(v, tools(v.Value))
		case v.Kind == yaml.SequenceNode:
			for _, item := range v.Content[:min(len(v.Content), maxTools)] {
				if item.Kind == yaml.ScalarNode {
					u.checkToolEntries(item, tools(item.Value))
				}
			}
		}
	}
}

func (u *skillCheck) checkToolEntries(at *yaml.Node, entries []string) {
	for _, entry := range entries[:min(len(entries), maxTools)] {
		name, _, _ := strings.Cut(entry, "(")
		if opened, closed := strings.Count(entry, "("), strings.Count(entry, ")"); opened != closed {
			message := fmt.Sprintf("%q has a parenthesis that is not closed", entry)
			if closed > opened {
				message = fmt.Sprintf("%q has a parenthesis that is not opened", entry)
			}
			u.atNode(at, finding{rule: rule.ToolPattern, message: message})
			continue
		}
		if _, err := tool.ParseList([]string{entry}); err != nil {
			u.atNode(at, finding{
				rule: rule.ToolPattern, message: strings.TrimPrefix(err.Error(), "allowed-tools "),
				fix: diag.HintOf(err),
			})
			continue
		}
		if near := similarTool(name); near != "" {
			u.atNode(at, finding{
				rule: rule.UnknownTool, message: fmt.Sprintf("%q is not a tool of a known agent", name),
				fix: fmt.Sprintf("did you mean %s?", near),
			})
		}
	}
}

// maxTools is how many entries of a list of tools are checked.
const maxTools = 100

// minToolName is the length of the shortest name that is compared with others.
const minToolName = 4

// toolNames returns the names of all known tools: those that agents share, and others of Claude Code.
var toolNames = sync.OnceValue(func() []string {
	names := []string{
		"EnterPlanMode", "EnterWorktree", "ExitWorktree", "LSP", "ListMcpResourcesTool", "ReadMcpResourceTool",
		"SendMessage", "SlashCommand", "TeamCreate", "TeamDelete", "Workflow",
	}
	for _, t := range tool.Table() {
		names = append(append(names, t.Name), t.Names...)
	}
	return names
})

// similarTool returns the known tool that a misspelled name means, or "". Agents and MCP servers have tools that are
// not known here, so a name that is not similar to a known one is no mistake.
func similarTool(name string) string {
	known := toolNames()
	if len(name) < minToolName || slices.Contains(known, name) || strings.HasPrefix(name, "mcp") {
		return ""
	}
	if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
		return tool.Canonical(known[i])
	}
	near := diag.Nearest(name, known)
	if diff := len(near) - len(name); len(near) < minToolName || diff > 1 || diff < -1 {
		return ""
	}
	return near
}

// licenseFile matches the name of a license's file: one with an extension, or all of the text.
var licenseFile = sync.OnceValue(func() *regexp.Regexp {
	const name = `(?:[\w.-]+/)*(?:LICEN[CS]E|COPYING|NOTICE|UNLICENSE)`
	return regexp.MustCompile(`(?:^|[\s("'` + "`" + `])(` + name + `[\w-]*\.(?:txt|md|rst|html|pdf))\b|^(` + name + `)$`)
})

// checkLicense reports a license that names a file which the skill does not contain.
func (u *skillCheck) checkLicense() {
	_, v := u.doc.Lookup("license")
	if v == nil || v.Kind != yaml.ScalarNode || u.doc.Recovered(v) {
		return
	}
	m := licenseFile().FindStringSubmatch(strings.TrimSpace(v.Value))
	if m == nil {
		return
	}
	name := path.Clean(m[1] + m[2])
	if u.tree.has(name) || u.tree.skips(name) {
		return
	}
	f := finding{rule: rule.LicenseFile, message: fmt.Sprintf("the license names %s, which the skill does not contain", name)}
	if other := u.tree.foldedMatch(name); other != "" {
		f.fix = "write " + other
	}
	u.atNode(v, f)
}
