package pack

import (
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Place returns the line and column of a key below other keys, as Place("dependencies", "acme/base"), or of an entry of
// a list. It is 0 for both where that is not there, and in a manifest that [CheckManifest] has not read. It is not for
// several goroutines at once.
func (m *Manifest) Place(keys ...string) (line, column int) { return m.places.of(keys) }

// Place returns the line and column of a key below other keys; see [Manifest.Place].
func (l *Lock) Place(keys ...string) (line, column int) { return l.places.of(keys) }

// places finds keys in a file. The zero value knows none.
type places struct {
	root  *yaml.Node
	known map[*yaml.Node]map[string]spot // of the mappings and lists that were asked about
}

// spot is a key and its value, or an entry of a list for both.
type spot struct{ key, value *yaml.Node }

func (p *places) of(keys []string) (line, column int) {
	at := spot{value: p.root}
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
func (p *places) below(n *yaml.Node) map[string]spot {
	if found, ok := p.known[n]; ok {
		return found
	}
	found := make(map[string]spot, len(n.Content))
	add := func(key, value *yaml.Node) {
		if _, twice := found[key.Value]; !twice {
			found[key.Value] = spot{key, value}
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
		p.known = make(map[*yaml.Node]map[string]spot)
	}
	p.known[n] = found
	return found
}
