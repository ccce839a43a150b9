package catalog

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// executionFields are what is known below execution.
var executionFields = [...]string{"sandbox", "allowed-paths", "network"}

// execution refuses what cannot be read for certain of how a skill's scripts are to be confined: they never run with more
// than their author meant.
func (r *record) execution(v *yaml.Node) {
	if v == nil || v.Kind == yaml.ScalarNode && skill.ScalarText(v) == "" {
		return
	}
	if v.Kind != yaml.MappingNode {
		r.refuseExecution(v, "execution is not a mapping, as {sandbox: true}")
		return
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i], follow(v.Content[i+1])
		switch key.Value {
		case "sandbox":
			if value.Kind != yaml.ScalarNode {
				r.refuseExecution(value, "execution.sandbox is neither true nor false")
			}
		case "allowed-paths", "network":
			if why := unreadable(value, key.Value == "network"); why != "" {
				r.refuseExecution(value, "execution."+key.Value+" "+why)
			}
		default:
			plain := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key.Value)), "_", "-")
			near := diag.Nearest(plain, executionFields[:])
			if slices.Contains(executionFields[:], plain) {
				near = plain
			}
			if near != "" {
				r.refuseExecution(key, "execution has no "+key.Value+": it is called "+near)
			}
		}
		if r.fatal != "" {
			return
		}
	}
}

func (r *record) refuseExecution(at *yaml.Node, why string) {
	r.fatal, r.line = flat(why+", and it limits what the skill may do", maxShort), at.Line
}

// unreadable returns why a value is no list of texts, or, where a word may stand for one, no word.
func unreadable(v *yaml.Node, word bool) string {
	items := v.Content
	if v.Kind == yaml.ScalarNode {
		items = []*yaml.Node{v}
		if skill.ScalarText(v) == "" {
			return "" // as if it were not there
		}
	} else if v.Kind != yaml.SequenceNode {
		return "is not a list"
	}
	for _, item := range items {
		item = follow(item)
		tag := item.ShortTag()
		switch {
		case item.Kind != yaml.ScalarNode || strings.TrimSpace(skill.ScalarText(item)) == "":
			return "has an entry that is no text"
		case tag != "!!str" && (!word || tag != "!!bool"):
			return "has the entry " + item.Value + ", which is no text: write it in quotes"
		}
	}
	return ""
}
