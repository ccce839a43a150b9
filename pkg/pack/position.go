package pack

import (
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Position returns the line and column of a key below other keys, as Position("dependencies", "acme/base"), or of an
// item of a list. Both are 0 if there is none, or if [CheckManifest] did not read the manifest.
func (m *Manifest) Position(keys ...string) (line, column int) { return position(m.root, keys) }

// Position returns the line and column of a key below other keys; see [Manifest.Position].
func (l *Lock) Position(keys ...string) (line, column int) { return position(l.root, keys) }

func position(value *yaml.Node, keys []string) (line, column int) {
	var key *yaml.Node
	for _, name := range keys {
		if key, value = findKey(value, name); key == nil {
			return 0, 0
		}
	}
	if key == nil {
		return 0, 0
	}
	return key.Line, key.Column
}

// findKey returns a key of a mapping and its value, or an item of a list as both.
func findKey(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n != nil && n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			if item.Kind == yaml.ScalarNode && item.Value == name {
				return item, item
			}
		}
	}
	for k, v := range yamlx.Pairs(n) {
		if k.Value == name {
			return k, v
		}
	}
	return nil, nil
}
