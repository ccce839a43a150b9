package skill

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// executionFields are the known keys of execution.
var executionFields = [...]string{"sandbox", "allowed-paths", "network"}

// UnreadExecution returns the parts of the field execution that are invalid, and why, or nil. Because this field
// confines a skill's scripts, unknown content must not be ignored.
func (d *Document) UnreadExecution() (node *yaml.Node, why string) {
	_, v := d.Lookup("execution")
	v = target(v)
	if v == nil || v.Kind == yaml.ScalarNode && ScalarText(v) == "" {
		return nil, ""
	}
	if v.Kind != yaml.MappingNode {
		return v, "execution is not a mapping such as {sandbox: true}"
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i], target(v.Content[i+1])
		switch key.Value {
		case "sandbox":
			if value.Kind != yaml.ScalarNode {
				return value, "execution.sandbox is neither true nor false"
			}
		case "allowed-paths", "network":
			if why := unreadable(value, key.Value == "network"); why != "" {
				return value, "execution." + key.Value + " " + why
			}
		default:
			normalized := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key.Value)), "_", "-")
			near := diag.Nearest(normalized, executionFields[:])
			if slices.Contains(executionFields[:], normalized) {
				near = normalized
			}
			if near != "" {
				return key, "execution contains the unknown key " + key.Value + " instead of " + near
			}
		}
	}
	return nil, ""
}

// target returns the target of an alias.
func target(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// unreadable returns why a value is not a list of texts or, if allowed, a single text.
func unreadable(v *yaml.Node, word bool) string {
	items := v.Content
	if v.Kind == yaml.ScalarNode {
		items = []*yaml.Node{v}
		if ScalarText(v) == "" {
			return "" // as if it were missing
		}
	} else if v.Kind != yaml.SequenceNode {
		return "is not a list"
	}
	for _, item := range items {
		item = target(item)
		tag := item.ShortTag()
		switch {
		case item.Kind != yaml.ScalarNode || strings.TrimSpace(ScalarText(item)) == "":
			return "contains an entry that is not text"
		case tag != "!!str" && (!word || tag != "!!bool"):
			return "contains the entry " + item.Value + ", which is not text: write the entry in quotes"
		}
	}
	return ""
}
