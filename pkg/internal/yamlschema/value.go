package yamlschema

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNesting is the depth beyond which values are cut off.
const maxNesting = 64

// maxValues bounds how many values a frontmatter may expand to, so that aliases of aliases cannot fill the memory.
const maxValues = 50_000

var errTooMany = errors.New("its references expand to too many values")

// newValue turns a node into what the schema library validates. Dates become numbers: like those they are not text,
// and no schema allows one of the two alone.
func newValue(n *yaml.Node) (any, error) {
	c := converter{budget: maxValues}
	v := c.convert(n, 0)
	if c.budget <= 0 {
		return nil, errTooMany
	}
	return v, nil
}

type converter struct{ budget int }

func (c *converter) convert(n *yaml.Node, depth int) any {
	if c.budget--; c.budget <= 0 || depth > maxNesting {
		c.budget = min(c.budget, 0)
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.convert(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			list = append(list, c.convert(item, depth+1))
		}
		return list
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			if _, twice := m[n.Content[i].Value]; !twice {
				m[n.Content[i].Value] = c.convert(n.Content[i+1], depth+1)
			}
		}
		return m
	}
	return scalarValue(n)
}

func scalarValue(n *yaml.Node) any {
	switch TypeOf(n) {
	case "null":
		return nil
	case "boolean":
		return strings.EqualFold(n.Value, "true")
	case "number":
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f
		}
		return 0.0
	case "date":
		return 0.0
	}
	return n.Value
}

// TypeOf returns the type of a node in the words of people: text, number, boolean, date, null, list, mapping.
func TypeOf(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.SequenceNode:
		return "list"
	case yaml.MappingNode:
		return "mapping"
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!bool":
		return "boolean"
	case "!!int", "!!float":
		return "number"
	case "!!timestamp":
		return "date"
	}
	return "text"
}
