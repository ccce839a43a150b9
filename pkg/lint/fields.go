package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// checkFieldReferences checks the files that the frontmatter names: `files:`, `hooks:` and `command:`.
func (u *skillCheck) checkFieldReferences() {
	if u.doc.Front == nil {
		return
	}
	if _, v := u.doc.Lookup("files"); v != nil {
		u.checkListedFiles(v, u.profilesWith("files"))
	}
	if _, v := u.doc.Lookup("hooks"); v != nil && v.Kind == yaml.MappingNode {
		u.checkHooks(v)
	}
	if _, v := u.doc.Lookup("command"); v != nil && v.Kind == yaml.ScalarNode && !u.doc.Recovered(v) {
		u.checkCommand(v, rule.Command)
	}
}

// checkListedFiles checks that every listed file exists and is written as it must be.
func (u *skillCheck) checkListedFiles(list *yaml.Node, by fieldProfiles) {
	if list.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range list.Content {
		if len(by.ids) == 0 && item.Kind != yaml.MappingNode {
			continue // another agent's list, perhaps of patterns or of files of a project
		}
		node := item
		if item.Kind == yaml.MappingNode {
			_, node = yamlschema.Descend(item, "path")
		}
		if p := skill.ScalarText(node); p != "" && node.Kind == yaml.ScalarNode {
			u.checkListed(node, p, by)
		}
	}
}

func (u *skillCheck) checkListed(node *yaml.Node, p string, by fieldProfiles) {
	slashed := strings.ReplaceAll(p, `\`, "/")
	at, ok := inside(".", slashed)
	switch {
	case strings.HasPrefix(slashed, "/") || drive().MatchString(p) || !ok:
		u.atNode(node, by.finding(finding{
			rule:    rule.ListedForm,
			message: fmt.Sprintf("%s is not inside the skill", p),
		}))
		return
	case slashed != p:
		u.atNode(node, by.finding(finding{
			rule:    rule.ListedForm,
			message: fmt.Sprintf("%s contains backslashes", p), fix: "write " + at,
		}))
	case strings.HasPrefix(p, "./"):
		u.checkDotSlash(node, p, at)
	}
	if u.tree.isFile(at) {
		return
	}
	f := finding{rule: rule.Listed, message: fmt.Sprintf("the listed file %s does not exist", at)}
	if u.tree.has(at) {
		f.message = fmt.Sprintf("the listed path %s is a directory", at)
	}
	if other := u.tree.foldedMatch(at); other != "" && other != at {
		f.fix = "write " + other
	} else if near := u.tree.nearest(at); near != "" {
		f.fix = fmt.Sprintf("did you mean %s?", near)
	}
	u.atNode(node, by.finding(f))
}

// fieldProfiles is which of the selected profiles know a field.
type fieldProfiles struct {
	ids []string
	all bool
}

// profilesWith returns the profiles that have a field.
func (u *skillCheck) profilesWith(field string) fieldProfiles {
	var k fieldProfiles
	for _, j := range u.l.schemas {
		if slices.Contains(yamlschema.FieldNames(j.schema.Raw), field) {
			k.ids = append(k.ids, j.ID)
		}
	}
	k.all = len(k.ids) == len(u.l.schemas)
	return k
}

// finding assigns a finding to the profiles that know the field. If none does, a wrong value breaks nothing, so the
// finding is a warning.
func (k fieldProfiles) finding(f finding) finding {
	switch {
	case k.all:
	case len(k.ids) == 0:
		f.severity = new(diag.SeverityWarning)
	default:
		f.profile = strings.Join(k.ids, ",")
	}
	return f
}

// checkDotSlash reports a leading ./ under the profiles that forbid it.
func (u *skillCheck) checkDotSlash(node *yaml.Node, p, at string) {
	for _, j := range u.l.schemas {
		if j.PlainPaths {
			u.atNode(node, finding{
				rule: rule.ListedForm, profile: j.ID,
				message: fmt.Sprintf("%s starts with ./", p), fix: "write " + at,
				edits: u.replaceNode(node, at),
			})
		}
	}
}

// checkHooks checks the scripts that hooks name: a path under pre and post, a command below every event.
func (u *skillCheck) checkHooks(n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		switch {
		case value.Kind == yaml.ScalarNode && (key == "pre" || key == "post"):
			u.checkHookScript(value)
		case value.Kind == yaml.ScalarNode && key == "command":
			u.checkCommand(value, rule.Hook)
		case value.Kind == yaml.MappingNode:
			u.checkHooks(value)
		case value.Kind == yaml.SequenceNode:
			for _, item := range value.Content {
				if item.Kind == yaml.MappingNode {
					u.checkHooks(item)
				}
			}
		}
	}
}

// checkHookScript checks a script's path; it may be followed by arguments.
func (u *skillCheck) checkHookScript(node *yaml.Node) {
	words := shellWords(node.Value)
	if len(words) == 0 || placeholder(words[0]) {
		return
	}
	u.checkNamedScript(node, words[0], rule.Hook)
	if at, ok := inside(".", words[0]); ok {
		u.called[at] = true
	}
}

// checkCommand checks the files that a command line runs: its first word if that is a path, or the script that it
// passes to an interpreter. It does not check programs on PATH.
func (u *skillCheck) checkCommand(node *yaml.Node, rule string) {
	words := shellWords(node.Value)
	for len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	first := words[0]
	if isInterpreter(path.Base(first)) {
		for _, word := range words[1:] {
			if word == "-c" || word == "-m" || word == "-e" || word == "--eval" {
				return
			}
			if !strings.HasPrefix(word, "-") {
				if looksLikePath(word) {
					u.checkNamedScript(node, word, rule)
				}
				return
			}
		}
		return
	}
	if looksLikePath(first) && !strings.HasPrefix(first, "/") {
		u.checkNamedScript(node, first, rule)
		if at, ok := inside(".", withoutVariable(first)); ok {
			u.called[at] = true
		}
	}
}

// looksLikePath reports whether a word of a command is a path of the skill and not a program, an address or a pattern.
func looksLikePath(word string) bool {
	word = withoutVariable(word)
	if placeholder(word) || scheme().MatchString(word) || strings.HasPrefix(word, "~") || strings.HasPrefix(word, "/") {
		return false
	}
	return strings.Contains(word, "/") || scriptExtension(word)
}

// checkNamedScript reports a path in the frontmatter that does not exist in the skill, under the profiles for which the
// script runs.
func (u *skillCheck) checkNamedScript(node *yaml.Node, p, id string) {
	at, ok := inside(".", withoutVariable(p))
	if ok && u.tree.isFile(at) {
		return
	}
	f := finding{rule: id, message: fmt.Sprintf("%s does not exist in the skill", at)}
	if near := u.tree.nearest(at); near != "" {
		f.fix = fmt.Sprintf("did you mean %s?", near)
	}
	switch {
	case id == rule.Command:
		f = u.profilesWith("command").finding(f)
	case !u.doc.Applies("hooks"):
		f = u.profilesWith("hooks").finding(f)
	} // skillpm runs the hooks of a skill under every profile
	u.atNode(node, f)
}

// tools splits the text of allowed-tools at spaces and commas that are not inside parentheses, so that
// "Bash(gh pr:*), Read" is two tools.
func tools(text string) []string {
	var out []string
	depth, start := 0, -1
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		}
		if separates := depth == 0 && (r == ',' || r == ' ' || r == '\t' || r == '\n'); separates {
			if start >= 0 {
				out = append(out, text[start:i])
			}
			start = -1
		} else if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		out = append(out, text[start:])
	}
	return out
}

// spaced reports whether one of the tools that commas separate has a space in its name, so that they cannot be
// separated by spaces.
func spaced(text string) bool {
	depth, word, gap := 0, false, false
	for _, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case depth > 0:
		case r == ',':
			word, gap = false, false
		case r == ' ' || r == '\t' || r == '\n':
			gap = word
		case gap:
			return true
		default:
			word = true
		}
	}
	return false
}

// hasComma reports whether a comma separates two tools.
func hasComma(text string) bool {
	depth := 0
	for _, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ',' && depth == 0:
			return true
		}
	}
	return false
}

func items(n *yaml.Node) []string {
	var out []string
	for _, item := range n.Content {
		if s := skill.ScalarText(item); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// checkToolForm warns about allowed-tools with another separator than the agent documents. The schema decides whether a
// list is allowed.
func (u *skillCheck) checkToolForm(j *profileSchema) {
	_, v := u.doc.Lookup("allowed-tools")
	if v == nil || v.Kind != yaml.ScalarNode || u.doc.Recovered(v) || len(tools(v.Value)) < 2 {
		return
	}
	comma := hasComma(v.Value)
	switch {
	case j.ToolForm == "space" && comma && spaced(v.Value):
		u.atNode(v, finding{
			rule: rule.ToolForm, profile: j.ID,
			message: "allowed-tools uses commas as separators and spaces in names, but the standard uses spaces as separators",
			fix:     "use the agent's tool names, without spaces",
		})
	case j.ToolForm == "space" && comma:
		u.atNode(v, finding{
			rule: rule.ToolForm, profile: j.ID,
			message: "allowed-tools uses commas as separators, but the standard uses spaces",
			fix:     fmt.Sprintf("write allowed-tools: %s", strings.Join(tools(v.Value), " ")),
			edits:   u.replaceField("allowed-tools", yamlx.Scalar(strings.Join(tools(v.Value), " "))),
		})
	case j.ToolForm == "comma" && !comma:
		u.atNode(v, finding{
			rule: rule.ToolForm, profile: j.ID, message: "allowed-tools uses spaces as separators, but " + j.Title +
				" uses commas",
			fix:   fmt.Sprintf("write allowed-tools: %s", strings.Join(tools(v.Value), ", ")),
			edits: u.replaceField("allowed-tools", yamlx.Scalar(strings.Join(tools(v.Value), ", "))),
		})
	}
}
