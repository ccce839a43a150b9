package pack

import (
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Position returns the line and column of a key below other keys, as Position("dependencies", "acme/base"), or of an
// entry of a list. It is 0 for both where that is not there, and in a manifest that [CheckManifest] has not read. It is
// not for several goroutines at once.
func (m *Manifest) Position(keys ...string) (line, column int) { return m.positions.of(keys) }

// Position returns the line and column of a key below other keys; see [Manifest.Position].
func (l *Lock) Position(keys ...string) (line, column int) { return l.positions.of(keys) }

// keyPositions finds keys in a file. The zero value knows none.
type keyPositions struct {
	root  *yaml.Node
	known map[*yaml.Node]map[string]keyNode // of the mappings and lists that were asked about
}

// keyNode is a key and its value, or an entry of a list for both.
type keyNode struct{ key, value *yaml.Node }

func (p *keyPositions) of(keys []string) (line, column int) {
	at := keyNode{value: p.root}
	for _, key := range keys {
		if at.value == nil {
			return 0, 0
		}
		at = p.below(at.value)[key]
	}
	if at.key == nil {
		return 0, 0
	}
	return at.key.Line, at.key.Column
}

// below returns what is in a mapping or a list, the first of two equal ones.
func (p *keyPositions) below(n *yaml.Node) map[string]keyNode {
	if found, ok := p.known[n]; ok {
		return found
	}
	found := make(map[string]keyNode, len(n.Content))
	add := func(key, value *yaml.Node) {
		if _, twice := found[key.Value]; !twice {
			found[key.Value] = keyNode{key, value}
		}
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			if item.Kind == yaml.ScalarNode {
				add(item, item)
			}
		}
	}
	for k, v := range yamlx.Pairs(n) {
		add(k, v)
	}
	if p.known == nil {
		p.known = make(map[*yaml.Node]map[string]keyNode)
	}
	p.known[n] = found
	return found
}
