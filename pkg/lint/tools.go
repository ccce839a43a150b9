package lint

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill"
)

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

// toolForm warns about text in allowed-tools that is separated in another way than the host documents. Whether it is
// text or a list is the schema's business.
func (u *unit) toolForm(j *judge) {
	_, v := u.doc.Lookup("allowed-tools")
	if v == nil || v.Kind != yaml.ScalarNode || u.doc.Recovered(v) || len(tools(v.Value)) < 2 {
		return
	}
	comma := hasComma(v.Value)
	switch {
	case j.ToolForm == "space" && comma && spaced(v.Value):
		u.atNode(v, finding{
			rule: rule.ToolForm, profile: j.ID,
			message: "allowed-tools are separated by commas and have spaces in their names, and the standard " +
				"has spaces between them",
			fix: "name each tool as the host does, without spaces",
		})
	case j.ToolForm == "space" && comma:
		u.atNode(v, finding{
			rule: rule.ToolForm, profile: j.ID,
			message: "allowed-tools are separated by commas, and the standard has spaces",
			fix:     fmt.Sprintf("write allowed-tools: %s", strings.Join(tools(v.Value), " ")),
			edits:   u.replaceField("allowed-tools", yamlx.Scalar(strings.Join(tools(v.Value), " "))),
		})
	case j.ToolForm == "comma" && !comma:
		u.atNode(v, finding{
			rule: rule.ToolForm, profile: j.ID, message: "allowed-tools are separated by spaces, and " + j.Title +
				" has commas",
			fix:   fmt.Sprintf("write allowed-tools: %s", strings.Join(tools(v.Value), ", ")),
			edits: u.replaceField("allowed-tools", yamlx.Scalar(strings.Join(tools(v.Value), ", "))),
		})
	}
}
