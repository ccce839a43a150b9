package pack

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// setDependency writes d under key. A dependency that is written as a mapping over several lines keeps that form, and
// the comments in it.
func setDependency(doc *document, key string, d Dependency) error {
	id := d.ID.String()
	found := doc.find(key, id)
	if len(found) == 2 && found[1].val.Kind == yaml.MappingNode && !isFlow(found[1].val) {
		return setFields(doc, found[1].val, key, d)
	}
	revKey := ""
	if len(found) == 2 {
		revKey = revisionKeyOf(found[1].val)
	}
	fields, err := fieldsOf(d, revKey)
	if err != nil {
		return err
	}
	if fields == nil {
		return doc.set(value{text: d.Constraint}, key, id)
	}
	return doc.set(value{fields: fields}, key, id)
}

// setFields changes the lines of a dependency that is written as a block mapping.
func setFields(doc *document, was *yaml.Node, key string, d Dependency) error {
	id := d.ID.String()
	fields, err := fieldsOf(d, revisionKeyOf(was))
	if err != nil {
		return err
	}
	if fields == nil {
		fields = []field{{key: keyVersion, text: d.Constraint}}
	}
	for _, f := range fields {
		if old := lookup(was, f.key); old != nil && sameField(old, f) {
			continue
		}
		if err := doc.set(value{text: f.text, items: f.items}, key, id, f.key); err != nil {
			return err
		}
	}
	for k := range pairs(was) {
		if slices.ContainsFunc(fields, func(f field) bool { return f.key == k.Value }) {
			continue
		}
		if _, err := doc.remove(key, id, k.Value); err != nil {
			return err
		}
	}
	return nil
}

// sameField reports whether a field says what is wanted already, perhaps with other quotes.
func sameField(v *yaml.Node, f field) bool {
	if f.items == nil {
		return v.Kind == yaml.ScalarNode && v.Value == f.text
	}
	var items []string
	for _, item := range v.Content {
		items = append(items, item.Value)
	}
	return sameSet(items, f.items)
}

func revisionKeyOf(n *yaml.Node) string {
	for _, key := range []string{keyTag, keyBranch, keyRev} {
		if lookup(n, key) != nil {
			return key
		}
	}
	return ""
}

// normal returns d as reading it back returns it.
func normal(d Dependency) Dependency {
	if d.Ref != nil && d.Ref.Kind == KindName {
		if d.Constraint == "" {
			d.Constraint = d.Ref.Constraint
		}
		d.Ref = nil
	}
	if d.Ref == nil && d.Constraint == "" {
		d.Constraint = "*"
	}
	return d
}

func indexOf(list []Dependency, id ID) int {
	return slices.IndexFunc(list, func(d Dependency) bool { return d.ID == id })
}
