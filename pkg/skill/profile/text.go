package profile

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Text returns a profile as a YAML document that does not extend another one: the file of a built-in profile, or the
// resolved form of a custom one.
func (p *Profile) Text() ([]byte, error) {
	if !p.User && slices.Contains(IDs(), p.ID) {
		return files.ReadFile(p.ID + suffix)
	}
	n, err := p.Node()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// Node returns a profile as YAML, without empty values.
func (p *Profile) Node() (*yaml.Node, error) {
	merged := *p
	merged.Extends = "" // all inherited values are included
	n := new(yaml.Node)
	if err := n.Encode(&merged); err != nil {
		return nil, err
	}
	prune(n)
	return n, nil
}

// prune removes empty values from mappings. In an agent's JSON they have a meaning, and stay.
func prune(n *yaml.Node) {
	var nodes []*yaml.Node
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode {
			prune(c)
			continue
		}
		if i%2 == 0 {
			continue
		}
		key := n.Content[i-1]
		if key.Value != "json" {
			prune(c)
		}
		if key.Value != "json" && isEmpty(c) || c.IsZero() {
			continue
		}
		nodes = append(nodes, key, c)
	}
	if n.Kind == yaml.MappingNode {
		n.Content = nodes
	}
}

func isEmpty(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.ScalarNode:
		return slices.Contains([]string{"", "0", "false", "null"}, n.Value)
	default:
		return len(n.Content) == 0
	}
}
