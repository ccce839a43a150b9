package pack

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// MergeManifests merges two manifests that were changed from the same base: key by key, entry by entry in mappings such
// as dependencies, and item by item in lists. What only one side changed is taken from that side. It returns what both
// sides changed differently, such as "dependencies acme/deploy", or a list in which they changed the item of one name.
// For that, the merged manifest has our values, or theirs if preferTheirs is set. If only one side changed the file,
// the result is that file with its comments and its order; otherwise it is our file with their changes.
func MergeManifests(base, ours, theirs *Manifest, preferTheirs bool) (
	merged *Manifest, conflicts []string, err error,
) {
	switch {
	case bytes.Equal(theirs.data, base.data), bytes.Equal(theirs.data, ours.data):
		return ours.Clone(), nil, nil
	case bytes.Equal(ours.data, base.data):
		merged = theirs.Clone()
		merged.Path = ours.Path
		return merged, nil, nil
	}
	var roots [2]*yaml.Node
	for i, m := range []*Manifest{base, theirs} {
		e, err := yamlx.NewEditor(m.Path, m.data)
		if err != nil {
			return nil, nil, err
		}
		roots[i] = e.Root()
	}
	e, err := yamlx.NewEditor(ours.Path, ours.Bytes())
	if err != nil {
		return nil, nil, err
	}
	x := &manifestMerge{file: e, preferTheirs: preferTheirs}
	if err := x.mapping(roots[0], e.Root(), roots[1]); err != nil {
		return nil, nil, err
	}
	merged, err = ParseManifest(ours.Path, e.Bytes())
	return merged, x.conflicts, err
}

// manifestMerge applies their changes to our file.
type manifestMerge struct {
	file         *yamlx.Editor
	preferTheirs bool
	conflicts    []string
}

// mapping merges the root or, with a path, the mapping there.
func (x *manifestMerge) mapping(base, ours, theirs *yaml.Node, path ...string) error {
	var keys []string
	for _, n := range []*yaml.Node{theirs, ours} { // new entries get the order that they have in their file
		for k := range yamlx.Pairs(n) {
			if !slices.Contains(keys, k.Value) {
				keys = append(keys, k.Value)
			}
		}
	}
	for _, key := range keys {
		at := append(slices.Clip(path), key)
		if err := x.entry(yamlx.Lookup(base, key), yamlx.Lookup(ours, key), yamlx.Lookup(theirs, key), at); err != nil {
			return err
		}
	}
	return nil
}

func (x *manifestMerge) entry(base, ours, theirs *yaml.Node, path []string) error {
	same := func(a, b *yaml.Node) bool { return a == nil && b == nil || a != nil && b != nil && sameNode(a, b) }
	are := func(kind yaml.Kind) bool {
		isOther := func(n *yaml.Node) bool { return n != nil && n.Kind != kind }
		return !isOther(base) && !isOther(ours) && !isOther(theirs)
	}
	switch {
	case same(ours, theirs), same(base, theirs):
		return nil
	case len(path) == 1 && are(yaml.MappingNode):
		return x.mapping(base, ours, theirs, path...)
	case same(base, ours):
		return x.set(theirs, path)
	case len(path) == 1 && are(yaml.SequenceNode):
		if merged := mergeItems(base, ours, theirs); !repeatsName(merged) {
			return x.set(merged, path)
		}
	}
	x.conflicts = append(x.conflicts, strings.Join(path, " "))
	if x.preferTheirs {
		return x.set(theirs, path)
	}
	return nil
}

// set sets the value at a path in our file, or removes the entry if there is none. An entry of several lines is replaced
// by one at the end of its mapping.
func (x *manifestMerge) set(n *yaml.Node, path []string) error {
	if n != nil && x.file.Set(valueOf(n), path...) == nil {
		return nil
	}
	if _, err := x.file.Prune(path...); n == nil || err != nil {
		return err
	}
	return x.file.Set(valueOf(n), path...)
}

// mergeItems returns our list without the items that they removed, and with those that they added.
func mergeItems(base, ours, theirs *yaml.Node) *yaml.Node {
	has := func(list *yaml.Node, item *yaml.Node) bool {
		return list != nil && slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return sameNode(n, item) })
	}
	merged := &yaml.Node{Kind: yaml.SequenceNode}
	if ours != nil {
		for _, item := range ours.Content {
			if has(theirs, item) || !has(base, item) {
				merged.Content = append(merged.Content, item)
			}
		}
	}
	if theirs != nil {
		for _, item := range theirs.Content {
			if !has(ours, item) && !has(base, item) {
				merged.Content = append(merged.Content, item)
			}
		}
	}
	return merged
}

// repeatsName reports whether two items of a list have the same name, such as registries with different addresses.
func repeatsName(list *yaml.Node) bool {
	seen := map[string]bool{}
	for _, item := range list.Content {
		name := yamlx.Lookup(item, "name")
		if name != nil && seen[name.Value] {
			return true
		} else if name != nil {
			seen[name.Value] = true
		}
	}
	return false
}

// valueOf returns a node as a value for an editor. Numbers with a fraction are texts, because they are versions.
func valueOf(n *yaml.Node) any {
	switch {
	case n.Kind == yaml.MappingNode:
		var fields yamlx.Mapping
		for k, v := range yamlx.Pairs(n) {
			fields = append(fields, yamlx.Entry{Key: k.Value, Value: valueOf(v)})
		}
		return fields
	case n.Kind == yaml.SequenceNode:
		items := []any{}
		for _, item := range n.Content {
			value := valueOf(item)
			if text, ok := value.(string); ok {
				value = yamlx.Word(text)
			}
			items = append(items, value)
		}
		return items
	case n.ShortTag() == "!!bool":
		return n.Value == "true"
	case n.ShortTag() == "!!int":
		if i, err := strconv.Atoi(n.Value); err == nil {
			return i
		}
	}
	return n.Value
}

// Entries returns the content of a manifest as texts of one line: one for each entry of a mapping, such as
// "dependencies acme/deploy", and one for each other key.
func (m *Manifest) Entries() (map[string]string, error) {
	e, err := yamlx.NewEditor(m.Path, m.data)
	if err != nil {
		return nil, err
	}
	entries := map[string]string{}
	for k, v := range yamlx.Pairs(e.Root()) {
		if v.Kind != yaml.MappingNode {
			entries[k.Value] = lineOf(v)
			continue
		}
		for inner, v := range yamlx.Pairs(v) {
			entries[k.Value+" "+inner.Value] = lineOf(v)
		}
	}
	return entries, nil
}

// lineOf returns a value on one line.
func lineOf(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return yamlx.Render(valueOf(n), false)
}
