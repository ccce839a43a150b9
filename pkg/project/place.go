package project

import "go.yaml.in/yaml/v3"

// Place returns the line and column of a key below other keys, as Place("dependencies", "acme/base"), or of an entry of
// a list. It is 0 for both where that is not there, and in a manifest that [CheckManifest] has not read.
func (m *Manifest) Place(keys ...string) (line, column int) { return placeOf(m.root, keys) }

// Place returns the line and column of a key below other keys; see [Manifest.Place].
func (l *Lock) Place(keys ...string) (line, column int) { return placeOf(l.root, keys) }

func placeOf(n *yaml.Node, keys []string) (line, column int) {
	for i, key := range keys {
		k, v := descend(n, key)
		if k == nil {
			return 0, 0
		}
		if i == len(keys)-1 {
			return k.Line, k.Column
		}
		n = v
	}
	return 0, 0
}

// descend returns a key of a mapping and its value, or an entry of a list.
func descend(n *yaml.Node, key string) (k, v *yaml.Node) {
	if n != nil && n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			if item.Kind == yaml.ScalarNode && item.Value == key {
				return item, item
			}
		}
	}
	for k, v := range pairs(n) {
		if k.Value == key {
			return k, v
		}
	}
	return nil, nil
}
