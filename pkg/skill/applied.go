package skill

import "go.yaml.in/yaml/v3"

// Applies reports whether skillpm applies a field of the frontmatter at run time under every profile, also under those
// whose agent does not have the field. A test of package runtime proves each of them.
func (d *Document) Applies(field string) bool {
	switch field {
	case "allowed-tools", "disallowed-tools", "disable-model-invocation", "user-invocable", "scope", "execution",
		"context", "agent", "model", "command", "priority", "tags", "toolsets", "files", "arguments", "argument-hint",
		"when_to_use":
		return true
	case "hooks": // skillpm runs those before and after a skill, and no other events
		_, v := d.Lookup(field)
		return v != nil && v.Kind == yaml.MappingNode && (lookupKey(v, "pre") || lookupKey(v, "post"))
	}
	return false
}

func lookupKey(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}
