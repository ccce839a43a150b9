package skill

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// UnreadTools returns the part of a list of tools, the field allowed-tools or disallowed-tools, that is empty or not
// text, and why, or nil. Agents differ about an empty allowed-tools: some allow every tool, and some none. Only [] is a
// list that allows none.
func (d *Document) UnreadTools(key string) (node *yaml.Node, why string) {
	at, v := d.Lookup(key)
	v = target(v)
	if v == nil {
		return nil, ""
	}
	switch {
	case v.Kind == yaml.ScalarNode && key == "allowed-tools" && !namesTools(ScalarText(v)):
		if v.Value == "" && v.Style == 0 { // the value does not have a position
			v = at
		}
		return v, key + " does not have a value"
	case v.Kind == yaml.MappingNode:
		return v, key + " is neither text nor a list"
	case v.Kind != yaml.SequenceNode:
		return nil, ""
	}
	for _, item := range v.Content {
		text := target(item)
		if text.Kind == yaml.MappingNode && len(text.Content) == 2 { // - Bash(git: *)
			text = target(text.Content[1])
		}
		if text.Kind != yaml.ScalarNode || !namesTools(ScalarText(text)) {
			return item, key + " contains an entry that is empty or not text"
		}
	}
	return nil, ""
}

// namesTools reports whether a text contains more than separators.
func namesTools(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r != ',' && !unicode.IsSpace(r) })
}
